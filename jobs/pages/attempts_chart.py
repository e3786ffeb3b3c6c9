"""The attempts of a job on one scale of time, as pieces of a line that a template draws as SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.models import AnyFailedAttempt, JobRow

WIDTH = 1000.0
MIN_WIDTH = 2.0  # of WIDTH: a piece that can still be seen
SHORT = timedelta(seconds=0.1)  # a time in line that is too short to be drawn


@dataclass(frozen=True)
class Piece:
    """A piece of the line.

    kind: line (before the claim), wait (for the start), run or failed.
    x, width: in the units of WIDTH.
    seconds: its length.
    attempt: the number of its attempt.
    """

    kind: str
    x: float
    width: float
    seconds: float
    attempt: int


def pieces(job: JobRow, failed: Sequence[AnyFailedAttempt], now: datetime) -> list[Piece]:
    """Return up to three pieces of each attempt: in line, from its claim to its start, and to its end.

    The scale reaches from the submit of the job to its end, or to now.
    """
    spans: list[tuple[int, datetime | None, datetime | None, datetime, str]] = [
        (one.attempt, one.queued_at, one.start_time, one.end_time, "failed") for one in failed
    ]
    if job.attempt and job.attempt not in {one.attempt for one in failed}:
        spans.append((job.attempt, job.queued_at, job.start_time, job.end_time or now, "run"))
    start, end = job.created_at, job.end_time or now
    free = start  # since when no attempt had a slot
    whole = max((end - start).total_seconds(), 0.001)
    found = []
    for attempt, queued, started, ended, kind in spans:
        for what, since, until in (("line", free, queued), ("wait", queued, started or ended), (kind, started, ended)):
            if since is None or until is None or until < since or (what == "line" and until - since < SHORT):
                continue
            x = max((since - start).total_seconds() / whole, 0) * WIDTH
            seconds = (until - since).total_seconds()
            width = max(min(seconds / whole * WIDTH, WIDTH - x), MIN_WIDTH)
            found.append(Piece(what, round(min(x, WIDTH - MIN_WIDTH), 1), round(width, 1), seconds, attempt))
        free = ended
    return found
