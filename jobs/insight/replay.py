"""Read the record of a window for a replay: attempts, jobs that waited, and the changes of limits and processes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.insight.forecasting.replay.record import LATEST, POOL, WARM, Change, PastAttempt, Record
from jobs.models import ArchivedJob, Hold, Job
from jobs.store.rows import objects, rows
from tenants.models import TenantQueue


class TooMuch(Exception):
    """The window has more attempts than may be read."""


@dataclass(frozen=True)
class Gap:
    """Something that the record lacks.

    code: a stable word for programs.
    told: a sentence for people.
    """

    code: str
    told: str


def read(since: datetime, until: datetime, max_attempts: int) -> Record:
    """Return the record of the window and its warm-up. Raises TooMuch if it has more than `max_attempts` attempts."""
    warm, latest = timedelta(seconds=WARM), timedelta(seconds=LATEST)
    begins, ends = since - warm, until + warm
    past = objects(
        PastAttempt, "replay_past", since=since, begins=begins, ends=ends, latest=until + latest, most=max_attempts + 1
    )
    if len(past) > max_attempts:
        raise TooMuch
    changes = rows("replay_changes", since=since, begins=begins, latest=until + latest)
    ids = {row.job_id for row in past}
    blocked = Job.objects.filter(pk__in=ids, predecessors__isnull=False).values_list("pk", "predecessors")
    after = {job_id: others or () for job_id, others in blocked}
    return Record((until - since).total_seconds(), past, [_change(*row) for row in changes], after)


def begin_alone() -> bool:
    """Return whether no other replay is under way. If so, no other can begin until this session ends."""
    return bool(rows("one_replay")[0][0])


def gaps(record: Record, since: datetime) -> Iterator[Gap]:
    """Yield the gaps in the record.

    since: the beginning of its window.
    """
    limits = min((change.at for change in record.changes if change.kind != POOL), default=None)
    pools = min((change.at for change in record.changes if change.kind == POOL), default=None)
    if limits is None or limits > 0:
        yield Gap("limits", "Limits at the start of the period are unknown; the first recorded ones are used.")
    if pools is None or pools > 0:
        yield Gap("processes", "Processes at the start of the period are unknown; the first recorded ones are used.")
    if any(attempt.process is None and attempt.started_at is not None for attempt in record.past):
        yield Gap(
            "pauses", "Some attempts do not say in which process they ran: the pauses between attempts are estimated."
        )
    if ArchivedJob.objects.filter(end_time__gte=since, end_time__lt=since + timedelta(seconds=record.length)).exists():
        yield Gap(
            "archived",
            "Some jobs of the period are archived: if they waited for other jobs, they arrive at the recorded time.",
        )
    tenants = {attempt.tenant_id for attempt in record.past}
    budgets = TenantQueue.objects.filter(tenant_id__in=tenants).exclude(budgets={}).exists()
    if budgets or Hold.objects.filter(owner_id__in=tenants).exists():
        yield Gap(
            "held", "Budgets and held lines are not replayed: jobs that one of them kept back may start too early here."
        )
    waiting = sum(
        attempt.started_at is None and attempt.left_at is None and 0 <= attempt.ready_at < record.length
        for attempt in record.past
    )
    if waiting:
        yield Gap("waiting", f"Jobs of the period that have not started, and are left out: {waiting:,}.")
    left = sum(attempt.left_at is not None and 0 <= attempt.ready_at < record.length for attempt in record.past)
    if left:
        yield Gap(
            "left",
            f"Jobs of the period that left the line without an attempt: {left:,}. Their run times are estimated.",
        )


def _change(kind: str, subject: str, at: float, limits: str | None) -> Change:
    known = None if limits is None else json.loads(limits)
    return Change(at, kind, subject if kind == POOL else int(subject), known)
