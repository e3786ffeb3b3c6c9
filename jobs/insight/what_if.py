"""Answer what other limits would have done in a window of the past ("what-if")."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from jobs import store
from jobs.calls.refusals import InvalidRequest, by_field
from jobs.console.operations import questions
from jobs.console.operations.filters import moment
from jobs.console.operations.named import pool_named, queue_named, tenant_named
from jobs.console.operations.questions import QUEUES, TENANTS
from jobs.insight import replay, what_if_process, what_if_words
from jobs.insight.forecasting.replay.compare import Comparison, compare
from jobs.insight.forecasting.replay.idle_gaps import idle_gaps
from jobs.insight.forecasting.replay.record import POOL, QUEUE, TENANT, Hypothesis
from jobs.models import Queue, WhatIf
from jobs.models.operations import MOST_SEATS
from jobs.recording.record import log_kept
from plumbing.text import printable
from tenants.models import TenantQueue
from tenants.tenant_model import all_tenants

HOUR = timedelta(hours=1)
MOST_ATTEMPTS = 200_000  # attempts of a window that a page or the API may ask for
POOLS = "pools"
KINDS = {TENANTS: TENANT, QUEUES: QUEUE, POOLS: POOL}
LIMITS: Mapping[str, Sequence[str]] = {**questions.LIMITS, POOLS: ["processes", "seats"]}  # that a question can change
BOUNDS = {"processes": (0, 999_999), "seats": (1, MOST_SEATS)}  # of the limits of pools
WORDS = {"none": None, "true": True, "false": False}  # values that are neither numbers nor names
SUBJECTS = {**questions.SUBJECTS, POOLS: "pool"}  # in the address of the page that asks
Changes = Mapping[str, Mapping[str, Mapping[str, Any]]]  # by kind, name, and limit


@dataclass(frozen=True)
class Question:
    """A what-if question.

    since, until: the window of the past
    changes: the other limits, from `since` on
    """

    since: datetime
    until: datetime
    changes: Changes

    @classmethod
    def of(cls, begin: str | None, end: str | None, changes: Changes, *, now: datetime) -> "Question":
        """Check a question. Raises InvalidRequest, which names the field.

        begin, end: as `moment` reads them; by default the last hour
        """
        until = moment("until", end, now) if end else now
        since = moment("since", begin, now) if begin else max(until, now - log_kept()) - HOUR
        for name, at in (("since", since), ("until", until)):
            if at > now:
                raise InvalidRequest(name, "must not be in the future")
        if since >= until:
            given = f"{since:%Y-%m-%dT%H:%M} and {until:%Y-%m-%dT%H:%M}"
            raise InvalidRequest("since", f"must be before until; they are {given}")
        if since < now - log_kept():
            raise InvalidRequest(
                "since", f"must be within the last {log_kept().days} days: older attempts are not kept"
            )
        question = cls(since, until, {kind: dict(named) for kind, named in changes.items() if named})
        question.hypothesis()
        return question

    def hypothesis(self) -> Hypothesis:
        """Return the other limits by their subjects: tenants and queues by id, pools by name. Raises InvalidRequest."""
        limits_by_subject: dict[tuple[str, int | str], dict[str, Any]] = {}
        for kind, named in self.changes.items():
            for name, given in named.items():
                subject, limits = _limits(kind, name, given)
                limits_by_subject[KINDS[kind], subject] = limits
        return limits_by_subject


def read(lines: Iterable[tuple[str, str, str, str]]) -> Changes:
    """Return the changes of a form or a command. Raises InvalidRequest.

    lines: kind, name, limit and value of each, as an operator wrote them
    """
    changes: dict[str, dict[str, dict[str, Any]]] = {}
    for kind, name, limit, value in lines:
        if kind not in LIMITS:
            raise InvalidRequest("kind", f"must be one of {', '.join(LIMITS)}")
        changes.setdefault(kind, {}).setdefault(name, {})[limit] = WORDS.get(value, value)
    return changes


def ask(question: Question, by: str) -> WhatIf:
    """Store the question, and start a process that answers it. Raises InvalidRequest while another one is answered."""
    young = store.database_now() - timedelta(seconds=what_if_process.SECONDS)
    if WhatIf.objects.filter(ended_at=None, asked_at__gt=young).exists():
        raise InvalidRequest("what-if", "another one is being replayed; ask again in a minute")
    row = WhatIf.objects.create(asked_by=by, question=stored(asdict(question)))
    transaction.on_commit(partial(what_if_process.start, row.pk))
    return row


def stored(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the types of JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(document, cls=DjangoJSONEncoder))
    return plain


def answer_document(question: Question, most: int = MOST_ATTEMPTS) -> dict[str, Any]:
    """Return the answer as a document. Raises InvalidRequest if the window has more than `most` attempts."""
    try:
        record = replay.read(question.since, question.until, most)
    except replay.TooMuch:
        raise InvalidRequest(
            "since", f"there are more than {most:,} attempts since then: ask for a shorter time"
        ) from None
    gaps = idle_gaps(record.past, record.light_queues())
    result = compare(record, gaps, question.hypothesis())
    tenants = {tenant.pk: tenant for tenant in all_tenants().filter(pk__in={line.tenant_id for line in result.lines})}
    queues = dict(Queue.objects.filter(pk__in={line.queue_id for line in result.lines}).values_list("pk", "name"))
    names = what_if_words.Names({pk: printable(tenant.jobs_name) for pk, tenant in tenants.items()}, queues)
    return {
        **asdict(question),
        "attempts": result.attempts,
        "not_replayed": result.unreplayed,
        "error": None if result.error is None else asdict(result.error),
        "knows": result.knows,
        "told": what_if_words.told(result, names),
        "accuracy": what_if_words.accuracy(result),
        "unknown": [asdict(gap) for gap in replay.gaps(record, question.since)],
        "pauses": asdict(gaps),
        "lines": list(_lines(result, {pk: tenant.jobs_slug for pk, tenant in tenants.items()}, names)),
    }


def _lines(result: Comparison, slugs: Mapping[int, str], names: what_if_words.Names) -> Iterator[dict[str, Any]]:
    for line in result.lines:
        waits = asdict(line)
        tenant, queue = waits.pop("tenant_id"), waits.pop("queue_id")
        named = {"tenant": slugs.get(tenant), "name": names.tenants.get(tenant), "queue": names.queues.get(queue)}
        yield named | waits | {"noticeable": line.noticeable, "difference": what_if_words.difference(line)}


def _limits(kind: str, name: str, given: Mapping[str, Any]) -> tuple[int | str, dict[str, Any]]:
    """Return the subject of some limits, and their values. Raises InvalidRequest, by the checks of the admin."""
    known = LIMITS[kind]
    for limit in given:
        if limit not in known:
            raise InvalidRequest(f"{kind}.{name}.{limit}", f"is no limit; known: {', '.join(known)}")
    if kind == POOLS:
        return pool_named(name), {
            limit: _number(f"{kind}.{name}.{limit}", value, *BOUNDS[limit]) for limit, value in given.items()
        }
    row = TenantQueue.of(tenant_named(name)) if kind == TENANTS else queue_named(name)
    for limit, value in given.items():
        try:
            setattr(row, limit, row._meta.get_field(limit).clean(value, row))  # type: ignore[union-attr]
        except ValidationError as error:
            raise InvalidRequest(f"{kind}.{name}.{limit}", by_field(ValidationError({limit: error}))[limit]) from None
    try:
        row.clean()
    except ValidationError as error:
        field, why = next(iter(by_field(error).items()))
        raise InvalidRequest(f"{kind}.{name}.{field}", why) from None
    subject = row.tenant_id if isinstance(row, TenantQueue) else row.pk
    return subject, {limit: getattr(row, limit) for limit in given}


def _number(field: str, value: Any, least: int, most: int) -> int:
    if re.fullmatch(r"[0-9]{1,6}", str(value)) is None or not least <= int(value) <= most:
        raise InvalidRequest(field, f"must be a whole number from {least} to {most:,}, not {str(value)[:40]!r}")
    return int(value)
