"""Workers: who is live, what the gone ones were running, and whose message was lost."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from jobs.store.rows import Claimed, live_for, rows


def beat(worker: uuid.UUID, *, name: str, pid: int, pool: str, concurrency: int) -> bool | None:
    """Register or go on; True if it is new, None if it was declared gone and must stop."""
    found = rows("beat", id=worker, name=name, pid=pid, pool=pool, concurrency=concurrency)
    return found[0][0] if found else None


def leave(worker: uuid.UUID) -> None:
    """A worker stops in good order."""
    rows("leave", id=worker)


def depose(silent: float) -> bool:
    """End the session of a leading clock that has said nothing for so many seconds; whether there was one."""
    return bool(rows("depose", silent=silent))


def declare_gone(now: datetime | None = None) -> list[str]:
    """The names of the workers that stopped beating, now declared gone."""
    return [name for (name,) in rows("declare_gone", live_for=live_for(), now=now)]


@dataclass(frozen=True)
class Orphan:
    """A running attempt whose worker is gone. name: None if that never registered."""

    id: int
    attempt: int
    worker: uuid.UUID
    name: str | None


def orphans(now: datetime | None = None) -> list[Orphan]:
    """The running attempts whose worker is gone."""
    return [Orphan(*row) for row in rows("orphans", live_for=live_for(), now=now)]


def give_up(worker: uuid.UUID) -> bool:
    """Note a worker that never registered as gone; False if it has registered meanwhile."""
    return bool(rows("give_up", id=worker))


def count_repairs(kind: str, number: int) -> None:
    """Add to the number of repairs of this kind."""
    rows("count_repairs", kind=kind, number=number)


def hand_over_again(patience: float, now: datetime | None = None) -> list[Claimed]:
    """The queued jobs whose message must be lost: `patience` seconds unanswered beside an idle process."""
    lost = rows(
        "hand_over_again",
        patience=patience,
        live_for=live_for(),
        default_timeout=float(settings.JOBS_DEFAULT_TIMEOUT),
        now=now,
    )
    return [Claimed(*row) for row in lost]
