"""What a worker is doing, in one word."""

from datetime import datetime, timedelta
from typing import Literal, Protocol

from jobs.store import LIVE_BEATS


class Seen(Protocol):
    """A worker's row."""

    @property
    def concurrency(self) -> int: ...
    @property
    def beat_interval(self) -> float: ...
    @property
    def beat_at(self) -> datetime: ...
    @property
    def gone_at(self) -> datetime | None: ...
    @property
    def lost(self) -> bool: ...


def state_of(worker: Seen, now: datetime) -> Literal["stopped", "lost", "silent", "draining", "live"]:
    """stopped: in good order. lost: declared gone. silent: it missed its beats. draining: it takes no jobs."""
    if worker.gone_at is not None:
        return "lost" if worker.lost else "stopped"
    if now - worker.beat_at > timedelta(seconds=LIVE_BEATS * worker.beat_interval):
        return "silent"
    return "live" if worker.concurrency else "draining"
