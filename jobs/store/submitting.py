"""Submit: store new jobs, or find the identical ones."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db import transaction

from jobs import telemetry
from jobs.authoring.decorator import CALLS
from jobs.calls.request import JobRequest
from jobs.conf import settings
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, NO_FAULT
from jobs.sql import statement
from jobs.store import clock, lock_wait
from jobs.store.rows import Applied, log, rows
from jobs.telemetry import traces
from plumbing.bounds import MAX_SECONDS
from plumbing.prepared import prepared

BUCKETS = 256  # of identities of a tenant: the most locks that its calls take in a transaction
MOST_DELAYS = 10  # after so many delays a debounced job is due, however many calls come
_text = json.JSONEncoder().encode
NEW = (("submit", Status.CREATED), ("schedule", Status.SCHEDULED), ("block", Status.BLOCKED))
SELDOM = (
    "batch_id",
    "predecessors",
    "is_async",
    "sequence_stops",
    "spends",
)  # left out of the text for the most jobs, which have none


class Answer(NamedTuple):
    """The answer to one request.

    nth: the number of the request.
    id: the id of its job; None if another transaction is deciding about an identical job, or the request is refused.
    status: the status of the job at that moment.
    created_at: the moment of all stored jobs; only the first answer has it, since parsing a moment is slow.
    due_at, expires_at: the moments of a stored job.
    holder: the job that must give up its key first.
    until: the moment before which the identical job must not expire, as PostgreSQL writes it.
    hastens: whether the identical job waits, and should be more urgent, or due now.
    refused: why nothing was stored: tenant, queue, light, past, far, expired, or full.
    bound: the limit of the tenant's backlog, if it is full.
    """

    nth: int
    id: int | None
    deduplicated: bool
    status: str
    created_at: datetime | None
    due_at: datetime | None
    holder: int | None
    until: str | None
    expires_at: datetime | None
    hastens: bool | None
    refused: str | None
    bound: int | None


def insert(
    requests: Sequence[JobRequest], *, caller: int | None = None, behind: Mapping[int, int] | None = None
) -> list[Answer]:
    """Store the requests that have no identical unfinished job in the window; return an answer for each.

    caller: the submitting job, which cannot be the answer to its own request.
    behind: by the number of a request, the running job that must end before the request's job starts.
    """
    kinds: dict[tuple[object, ...], int] = {}
    behind = behind or {}
    calls = ",".join(
        f"[{kinds.setdefault(r.kind, len(kinds))},{_text(r.source_id)},{_quoted(r.dedup_key)},"
        f"{behind.get(nth, 'null')},{r.args_text}{_in_sequence(r.sequence)}]"
        for nth, r in enumerate(requests)
    )
    answered = prepared(
        statement("submit"),
        kinds=_text([_kind(number, kind) for kind, number in kinds.items()]),
        calls=f"[{calls}]",
        caller=caller,
        held_until=HELD_UNTIL,
        longest=MAX_SECONDS,
        max_waiting=settings.JOBS_MAX_WAITING,
        window=float(settings.JOBS_DEDUP_WINDOW),
        trace_parent=traces.parent(),
        now=clock.moment(),
        lock_wait=lock_wait.asked(),
    )
    answers = [Answer(*row) for row in answered]
    tenants = {request.tenant_id for request in requests}
    facts = {"tenant": tenants.pop()} if len(tenants) == 1 else {}
    for verb, status in NEW:
        stored = sorted(
            answer.id for answer in answers if answer.id and not answer.deduplicated and answer.status == status
        )
        if stored:
            transaction.on_commit(partial(telemetry.applied_to_all, verb, stored, **facts))
    return answers


def give_up_key(ids: Sequence[int]) -> None:
    """Make these jobs give up their key."""
    rows("give_up_key", ids=list(ids))


def prolong(untils: Sequence[tuple[int, str]]) -> set[int]:
    """Let these jobs expire at those moments, or later; return those that have neither ended nor expired."""
    ids, moments = zip(*untils, strict=True)
    return {job_id for (job_id,) in rows("prolong", ids=list(ids), untils=list(moments))}


def hasten(joined: Sequence[tuple[int, JobRequest]]) -> None:
    """Make these jobs as urgent as the calls that have joined them.

    A job that waits for its retry after a failure is due now if the call is for now.
    """
    ids = [job_id for job_id, _ in joined]
    priorities = [request.priority for _, request in joined]
    soons = [not (request.delay or request.at or request.predecessors) for _, request in joined]
    facts = {"held_until": HELD_UNTIL, "no_fault": list(NO_FAULT)}
    rows("hasten", ids=ids, priorities=priorities, soons=soons, **facts)


class GoingOn(NamedTuple):
    """A job that waits on, with the arguments of a further call.

    due_at: the moment for which it waits; None: it waits in line.
    """

    id: int
    status: str
    due_at: datetime | None


def lock_identities(identities: Iterable[tuple[int, uuid.UUID]]) -> None:
    """Keep other transactions from deciding about these calls until this one ends; wait for those that do so now.

    identities: pairs of the id of a tenant and a key. A tenant waits only for its own transactions.
    """
    locks = sorted({(tenant_id, key.int % BUCKETS) for tenant_id, key in identities})
    tenants, buckets = zip(*locks, strict=True)
    rows("lock_identities", tenants=list(tenants), buckets=list(buckets))


def debounce(calls: Sequence[tuple[int, JobRequest]]) -> list[GoingOn]:
    """Let scheduled jobs without an attempt wait on, with the arguments of these calls; return the jobs that do."""
    if not calls:
        return []
    written = ",".join(
        f'{{"id":{job_id},"args":{request.args_text},{_text(_options(request))[1:]}' for job_id, request in calls
    )
    debounced = rows("debounce", calls=f"[{written}]", most=MOST_DELAYS, held_until=HELD_UNTIL)
    return [GoingOn(*row) for row in debounced]


def gather(calls: Iterable[tuple[int, JobRequest]]) -> dict[int, GoingOn]:
    """Append calls to the waiting jobs that gather them; return the jobs that took them, by the number of the call.

    calls: numbers, and requests of which no two have one identity. Another job of such an identity gives up its key.
    """
    asked = [
        {
            "nth": nth,
            "tenant_id": request.tenant_id,
            "dedup_key": str(request.dedup_key),
            "calls": request.args[CALLS],
            "most": request.most_calls,
            "priority": request.priority,
            "delay": request.delay,
            "expires": request.expires,
        }
        for nth, request in calls
    ]
    limits = {"bytes": settings.JOBS_ARGS_MAX_BYTES, "held_until": HELD_UNTIL}
    found = rows("gather", calls=_text(asked), **limits)
    return {nth: GoingOn(job_id, status, due_at) for nth, job_id, status, due_at, took in found if took}


def make_way(ids: Sequence[int]) -> dict[int, int | None]:
    """Make these jobs give up their key; return for each the running job that the new one must wait for."""
    return dict(rows("make_way", ids=list(ids))) if ids else {}


def replace(news: Mapping[int, int]) -> list[Applied]:
    """blocked, scheduled, created or queued -> cancelled, for these jobs, each replaced by another."""
    if not news:
        return []
    jobs = [Applied(*row) for row in rows("replace", olds=list(news), news=list(news.values()))]
    for job in jobs:
        log("replace", job.id, job.attempt, tenant=job.tenant_id, by=news[job.id])
    return jobs


def outdate(news: Mapping[int, int], stopping: Sequence[int]) -> list[int]:
    """Bar these running jobs from another try, since others wait for them; return those that are asked to stop."""
    if not news:
        return []
    outdated = rows("outdate", olds=list(news), news=list(news.values()), stopping=list(stopping))
    return [job_id for job_id, stops in outdated if stops]


def recount_waiting(*, all_tenants: bool = False) -> list[tuple[int, int, int]]:
    """Correct the lanes' counts of waiting jobs; return queue, tenant and difference of each wrong one.

    all_tenants: whether to correct those of all tenants; otherwise those of tenants near their limit.
    """
    wrong = rows("recount_waiting", max_waiting=settings.JOBS_MAX_WAITING, all=all_tenants)
    return [(queue_id, tenant_id, jobs) for queue_id, tenant_id, jobs in wrong]


def _quoted(key: object) -> str:
    return f'"{key}"' if key else "null"


def _in_sequence(name: str | None) -> str:
    return "" if name is None else f",{_text(name)}"


def _kind(number: int, kind: tuple[object, ...]) -> dict[str, object]:
    return _plain(dict(zip(JobRequest.KIND, kind, strict=True))) | {"kind": number}


def _options(request: JobRequest) -> dict[str, object]:
    return _plain({name: getattr(request, name) for name in JobRequest.KIND})


def _plain(values: dict[str, object]) -> dict[str, object]:
    """Return the values in the form of JSON, without empty ones that most jobs do not have."""
    for name in SELDOM:
        if not values[name]:
            del values[name]
    return values | {name: at.isoformat() for name, at in values.items() if isinstance(at, datetime)}
