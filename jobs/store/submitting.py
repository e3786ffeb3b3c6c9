"""Submit: store new jobs, or find the identical ones."""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db import transaction

from jobs import telemetry
from jobs.calls.request import JobRequest
from jobs.conf import settings
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.sql import statement
from jobs.store import clock
from jobs.store.rows import rows
from jobs.telemetry import traces
from tenants.bounds import MAX_SECONDS
from tenants.prepared import prepared

_text = json.JSONEncoder().encode
NEW = (("submit", Status.CREATED), ("schedule", Status.SCHEDULED), ("block", Status.BLOCKED))


class Answer(NamedTuple):
    """The answer to one request.

    id: of its job; None if another transaction is deciding about an identical job, or the request is refused.
    status: of the job at that moment. created_at: of all stored jobs; only the first answer has it, since parsing a
    moment is slow. due_at: of a stored job. holder: the job that must give up its key first. until: the
    identical job must not expire before that moment, as PostgreSQL writes it.
    refused: why nothing was stored: tenant, queue, past, far, expired, or full. bound: the limit of the tenant's
    backlog, if it is full.
    """

    nth: int
    id: int | None
    deduplicated: bool
    status: str
    created_at: datetime | None
    due_at: datetime | None
    holder: int | None
    until: str | None
    refused: str | None
    bound: int | None


def insert(requests: Sequence[JobRequest], *, caller: int | None = None, now: datetime | None = None) -> list[Answer]:
    """Store the requests without an identical unfinished job in the window; answer each by its number.

    caller: the submitting job, which cannot be the answer to its own request.
    """
    kinds: dict[tuple[object, ...], int] = {}
    calls = ",".join(
        f"[{kinds.setdefault(r.kind, len(kinds))},{_text(r.source_id)},{_quoted(r.dedup_key)},{r.args_text}]"
        for r in requests
    )
    found = prepared(
        statement("submit"),
        kinds=_text([_kind(number, kind) for kind, number in kinds.items()]),
        calls=f"[{calls}]",
        caller=caller,
        held_until=HELD_UNTIL,
        longest=MAX_SECONDS,
        max_waiting=settings.JOBS_MAX_WAITING,
        window=float(settings.JOBS_DEDUP_WINDOW),
        trace_parent=traces.parent(),
        now=clock.moment(now),
    )
    answers = [Answer(*row) for row in found]
    tenants = {request.tenant_id for request in requests}
    facts = {"tenant": tenants.pop()} if len(tenants) == 1 else {}
    for verb, status in NEW:
        stored = [one.id for one in answers if one.id and not one.deduplicated and one.status == status]
        if stored:
            transaction.on_commit(partial(telemetry.applied_to_all, verb, stored, **facts))
    return answers


def give_up_key(ids: Sequence[int]) -> None:
    """Make these jobs give up their key."""
    rows("give_up_key", ids=list(ids))


def prolong(untils: Sequence[tuple[int, str]], now: datetime | None = None) -> set[int]:
    """Let these jobs expire at those moments, or later; return those that have neither ended nor expired."""
    ids, moments = zip(*untils, strict=True)
    return {job_id for (job_id,) in rows("prolong", ids=list(ids), untils=list(moments), now=now)}


def recount_waiting(*, all_tenants: bool = False) -> list[tuple[int, int, int]]:
    """Correct the lanes' counts of waiting jobs; return queue, tenant and difference of each.

    all_tenants: otherwise only of those near their limit.
    """
    wrong = rows("recount_waiting", max_waiting=settings.JOBS_MAX_WAITING, all=all_tenants)
    return [(queue_id, tenant_id, jobs) for queue_id, tenant_id, jobs in wrong]


def _quoted(key: object) -> str:
    return f'"{key}"' if key else "null"


def _kind(number: int, kind: tuple[object, ...]) -> dict[str, object]:
    said = dict(zip(JobRequest.KIND, kind, strict=True))
    if not said["predecessors"]:
        del said["predecessors"]  # of most jobs
    moments = {name: at.isoformat() for name, at in said.items() if isinstance(at, datetime)}
    return said | moments | {"kind": number}
