"""The life of a job, as data: the statuses, and every arrow between them. Pure: imports nothing of Django."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    SCHEDULED = "scheduled"  # due later; the clock moves it on (promote)
    CREATED = "created"  # ready, waiting for a slot; a dispatch moves it on (claim)
    QUEUED = "queued"  # holds a slot, handed to Celery; the worker that takes it up moves it on (start)
    RUNNING = "running"  # holds a slot, being executed; its worker moves it on (settle), or recover if that died
    SUCCESS = "success"  # ended well; nobody moves it on
    ERROR = "error"  # ended badly, and had no retry policy; nobody moves it on
    DEAD = "dead"  # given up after too many crashes: the dead-letter queue
    CANCELLED = "cancelled"  # stopped on request


WAITING = frozenset({Status.SCHEDULED, Status.CREATED})
HOLDING = frozenset({Status.QUEUED, Status.RUNNING})  # these hold a slot of their tenant
FINAL = frozenset({Status.SUCCESS, Status.ERROR, Status.DEAD, Status.CANCELLED})


@dataclass(frozen=True)
class Arrow:
    """One way from a status to another; `jobs/sql/<verb>.sql` is the guarded statement that goes it."""

    verb: str
    sources: frozenset[Status]
    target: Status
    fenced: bool = False  # also guarded by the attempt number: only the present holder may go it


ARROWS = (
    Arrow("promote", frozenset({Status.SCHEDULED}), Status.CREATED),
    Arrow("claim", frozenset({Status.CREATED}), Status.QUEUED),
    Arrow("start", frozenset({Status.QUEUED}), Status.RUNNING, fenced=True),
    Arrow("succeed", frozenset({Status.RUNNING}), Status.SUCCESS, fenced=True),
    Arrow("fail", frozenset({Status.RUNNING}), Status.ERROR, fenced=True),
    Arrow("take_back", frozenset({Status.RUNNING}), Status.CREATED, fenced=True),
    Arrow("bury", frozenset({Status.RUNNING}), Status.DEAD, fenced=True),
    Arrow("cancel", WAITING | {Status.QUEUED}, Status.CANCELLED),
)
