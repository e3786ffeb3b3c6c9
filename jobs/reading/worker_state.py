"""What a worker is doing, in one word."""

from datetime import datetime, timedelta
from typing import Literal

from jobs.reading.looking import Worker
from jobs.store import LIVE_BEATS


def state_of(worker: Worker, now: datetime) -> Literal["stopped", "lost", "silent", "draining", "live"]:
    """stopped: in good order. lost: declared gone. silent: it missed its beats. draining: it takes no jobs."""
    if worker.gone_at is not None:
        return "lost" if worker.lost else "stopped"
    if now - worker.beat_at > timedelta(seconds=LIVE_BEATS * worker.beat_interval):
        return "silent"
    return "live" if worker.concurrency else "draining"
