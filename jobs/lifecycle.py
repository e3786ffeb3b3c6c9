"""The life of a job, as data: the statuses, and every arrow between them. Pure: imports nothing of Django."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    SCHEDULED = "scheduled"  # due later; the clock moves it on (promote)
    CREATED = "created"  # ready, waiting for a slot; a dispatch moves it on (claim), or the job before it (follow)
    QUEUED = "queued"  # holds a slot, handed to Celery; the worker that takes it up moves it on (start)
    RUNNING = "running"  # holds a slot, being executed; its worker moves it on (settle), or recover if that died
    SUCCESS = "success"  # ended well; nobody moves it on
    ERROR = "error"  # ended badly, and had no retry policy; a person moves it on (revive)
    DEAD = "dead"  # given up: the dead-letter queue; a person moves it on (revive, discard), or it expires
    CANCELLED = "cancelled"  # stopped on request; a person moves it on (revive)


WAITING = frozenset({Status.SCHEDULED, Status.CREATED})
HOLDING = frozenset({Status.QUEUED, Status.RUNNING})  # these hold a slot of their tenant
FINAL = frozenset({Status.SUCCESS, Status.ERROR, Status.DEAD, Status.CANCELLED})


@dataclass(frozen=True)
class Arrow:
    """One way from a status to another; `jobs/sql/<verb>.sql`, or a chapter of that name, goes it under a guard."""

    verb: str
    sources: frozenset[Status]
    target: Status
    fenced: bool = False  # also guarded by the attempt number: only the present holder may go it


ARROWS = (
    Arrow("promote", frozenset({Status.SCHEDULED}), Status.CREATED),
    Arrow("claim", frozenset({Status.CREATED}), Status.QUEUED),
    Arrow("start", frozenset({Status.QUEUED}), Status.RUNNING, fenced=True),
    Arrow("follow", frozenset({Status.CREATED}), Status.RUNNING, fenced=True),  # by the attempt that it follows
    Arrow("succeed", frozenset({Status.RUNNING}), Status.SUCCESS, fenced=True),
    Arrow("fail", frozenset({Status.RUNNING}), Status.ERROR, fenced=True),
    Arrow("bury", frozenset({Status.RUNNING}), Status.DEAD, fenced=True),
    Arrow("retry", frozenset({Status.RUNNING}), Status.SCHEDULED, fenced=True),
    Arrow("snooze", frozenset({Status.RUNNING}), Status.SCHEDULED, fenced=True),
    Arrow("stop", frozenset({Status.RUNNING}), Status.CANCELLED, fenced=True),
    Arrow("take_back", HOLDING, Status.SCHEDULED, fenced=True),
    Arrow("put_off", frozenset({Status.QUEUED}), Status.SCHEDULED, fenced=True),
    Arrow("hold", frozenset({Status.CREATED}), Status.SCHEDULED),
    Arrow("release", frozenset({Status.SCHEDULED}), Status.CREATED),
    Arrow("cancel", WAITING | {Status.QUEUED}, Status.CANCELLED),
    Arrow("revive", frozenset({Status.ERROR, Status.DEAD, Status.CANCELLED}), Status.CREATED),
    Arrow("discard", frozenset({Status.DEAD}), Status.CANCELLED),
)
