"""The life of a job, as data: the statuses, and every transition (arrow) between them. Imports nothing of Django."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    BLOCKED = "blocked"  # waits for others, its turn or an event; the reader of ends moves it on (unblock, drop)
    SCHEDULED = "scheduled"  # due later; the clock moves it on (promote)
    CREATED = "created"  # ready, waiting for a slot; a dispatch moves it on (claim), or the job before it (follow)
    QUEUED = "queued"  # holds a slot, handed to Celery; the worker that takes it up moves it on (start)
    RUNNING = "running"  # holds a slot, being executed; its worker moves it on (settle), or the clock (recover)
    SUCCESS = "success"  # succeeded; only the clock moves it on, into the history (archive)
    ERROR = "error"  # failed, and had no retry policy; a person moves it on (revive, rejoin, restore)
    DEAD = "dead"  # given up: the dead-letter queue; a person moves it on (revive, rejoin, discard), or it expires
    CANCELLED = "cancelled"  # stopped on request, or it came too late; a person moves it on (revive, rejoin, restore)


class HandBack(StrEnum):
    """A reason to ask a body for its slot, which it gives back at its next checkpoint."""

    DRAIN = "drain"  # its worker stops
    SLOTS = "slots"  # its tenant has fewer slots than it holds
    BORROWED = "borrowed"  # its slot is borrowed, and a job that is entitled to the process waits
    QUEUE = "queue_paused"
    TENANT = "tenant_paused"
    TYPE = "type_paused"
    TURN = "turn"  # its turn is over, and a job of another lane waits


WAITING = frozenset({Status.BLOCKED, Status.SCHEDULED, Status.CREATED})
HOLDING = frozenset({Status.QUEUED, Status.RUNNING})  # these hold a slot of their tenant
FINAL = frozenset({Status.SUCCESS, Status.ERROR, Status.DEAD, Status.CANCELLED})


@dataclass(frozen=True)
class Arrow:
    """One transition of a job: each of its guarded statements (`jobs/sql`) performs it.

    sources: the statuses that it leaves; empty if it puts the job into the table `jobs`.
    target: the status that it leads to; None if it takes the job out of the table.
    fenced: also guarded by the attempt number, so that only the present holder can apply it.
    """

    verb: str
    sources: frozenset[Status]
    target: Status | None
    statements: tuple[str, ...]
    fenced: bool = False


def _arrow(
    verb: str, *sources: Status, to: Status | None, by: tuple[str, ...] | None = None, fenced: bool = False
) -> Arrow:
    return Arrow(verb, frozenset(sources), to, by or (verb,), fenced)


ARROWS = (
    _arrow("submit", to=Status.CREATED),
    _arrow("schedule", to=Status.SCHEDULED, by=("submit",)),
    _arrow("block", to=Status.BLOCKED, by=("submit", "restore")),
    _arrow("unblock", Status.BLOCKED, to=Status.CREATED, by=("read_ends",)),
    _arrow("drop", Status.BLOCKED, to=Status.CANCELLED, by=("read_ends",)),
    _arrow("promote", Status.SCHEDULED, to=Status.CREATED),
    _arrow("claim", Status.CREATED, to=Status.QUEUED),
    _arrow("start", Status.QUEUED, to=Status.RUNNING, by=("start", "start_kept", "start_many"), fenced=True),
    _arrow(
        "follow", Status.CREATED, to=Status.RUNNING, by=("follow", "succeed_many"), fenced=True
    ),  # by the attempt that it follows
    _arrow("succeed", Status.RUNNING, to=Status.SUCCESS, by=("succeed", "follow", "succeed_many"), fenced=True),
    _arrow("fail", Status.RUNNING, to=Status.ERROR, fenced=True),
    _arrow("bury", Status.RUNNING, to=Status.DEAD, by=("fail", "take_back"), fenced=True),
    _arrow("retry", Status.RUNNING, to=Status.SCHEDULED, fenced=True),
    _arrow("snooze", Status.RUNNING, to=Status.SCHEDULED, by=("retry",), fenced=True),
    _arrow("hand_back", Status.RUNNING, to=Status.CREATED, fenced=True),
    _arrow("wait_for", Status.RUNNING, to=Status.BLOCKED, fenced=True),
    _arrow("stop", Status.RUNNING, to=Status.CANCELLED, by=("stop", "take_back"), fenced=True),
    _arrow("take_back", *HOLDING, to=Status.SCHEDULED, fenced=True),
    _arrow("put_off", Status.QUEUED, to=Status.SCHEDULED, fenced=True),
    _arrow("hold", Status.CREATED, to=Status.SCHEDULED, by=("hold", "hold_spent")),
    _arrow("release", Status.SCHEDULED, to=Status.CREATED),
    _arrow("cancel", *WAITING, Status.QUEUED, to=Status.CANCELLED),
    _arrow("lapse", *WAITING, to=Status.CANCELLED),
    _arrow("turn_away", Status.QUEUED, to=Status.CANCELLED, fenced=True),
    _arrow("replace", *WAITING, Status.QUEUED, to=Status.CANCELLED),
    _arrow("revive", Status.ERROR, Status.DEAD, Status.CANCELLED, to=Status.CREATED),
    _arrow("rejoin", Status.ERROR, Status.DEAD, Status.CANCELLED, to=Status.BLOCKED, by=("revive",)),
    _arrow("discard", Status.DEAD, to=Status.CANCELLED),
    _arrow("expire", Status.DEAD, to=None, by=("expire_dead",)),
    _arrow("archive", Status.SUCCESS, Status.ERROR, Status.CANCELLED, to=None),
    _arrow("restore", to=Status.CREATED),
)
