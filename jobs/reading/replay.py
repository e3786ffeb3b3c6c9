"""What was recorded of a window, for a replay: attempts, who waited, limits and processes as they changed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs.forecasting.replay.record import LATEST, POOL, WARM, Change, Past, Record
from jobs.models import ArchivedJob, Job
from jobs.store.rows import objects, rows


class TooMuch(Exception):
    """The window has more attempts than may be read."""


@dataclass(frozen=True)
class Gap:
    """Something that the record does not tell. code: stable. told: a sentence for people."""

    code: str
    told: str


def read(since: datetime, until: datetime, most: int) -> Record:
    """At most so many attempts, with those of the warm-up. Raises TooMuch."""
    warm, latest = timedelta(seconds=WARM), timedelta(seconds=LATEST)
    begins, ends = since - warm, until + warm
    past = objects(Past, "replay_past", since=since, begins=begins, ends=ends, latest=until + latest, most=most + 1)
    if len(past) > most:
        raise TooMuch
    changes = rows("replay_changes", since=since, begins=begins, latest=until + latest)
    ids = {one.job_id for one in past}
    blocked = Job.objects.filter(pk__in=ids, predecessors__isnull=False).values_list("pk", "predecessors")
    after = {job_id: others or () for job_id, others in blocked}
    return Record((until - since).total_seconds(), past, [_change(*row) for row in changes], after)


def begin_alone() -> bool:
    """Whether no other replay is under way; until this session ends, this one is."""
    return bool(rows("one_replay")[0][0])


def gaps(record: Record, since: datetime) -> Iterator[Gap]:
    """What is not known of this window, which began then."""
    limits = min((change.at for change in record.changes if change.kind != POOL), default=None)
    pools = min((change.at for change in record.changes if change.kind == POOL), default=None)
    if limits is None or limits > 0:
        yield Gap("limits", "Limits were not recorded at its beginning: the first that are known stand in.")
    if pools is None or pools > 0:
        yield Gap("processes", "Processes were not recorded at its beginning: the first that are known stand in.")
    if any(one.process is None and one.started_at is not None for one in record.past):
        yield Gap("pauses", "Not all attempts say in which process they ran: the pause between two is a guess.")
    if ArchivedJob.objects.filter(end_time__gte=since, end_time__lt=since + timedelta(seconds=record.length)).exists():
        yield Gap("archived", "Jobs of it are archived: those that waited for other jobs come when they did.")
    waiting = sum(
        one.started_at is None and one.left_at is None and 0 <= one.ready_at < record.length for one in record.past
    )
    if waiting:
        yield Gap("waiting", f"Jobs of it that have not started yet, and are not counted: {waiting:,}.")
    left = sum(one.left_at is not None and 0 <= one.ready_at < record.length for one in record.past)
    if left:
        yield Gap(
            "left", f"Jobs of it that left the line without an attempt: {left:,}. What they would have run is a guess."
        )


def _change(kind: str, subject: str, at: float, limits: str | None) -> Change:
    return Change(at, kind, subject if kind == POOL else int(subject), _limits(kind, limits))


def _limits(kind: str, text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    found: dict[str, Any] = json.loads(text)
    return {"processes": found["processes"] + found["leaving"]} if kind == POOL else found
