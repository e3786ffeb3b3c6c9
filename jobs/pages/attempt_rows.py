"""The attempts of a job as rows on one scale of time, for a template that draws them as SVG. Pure.

Long waits are cut: together they take at most as much of the scale as all work. So 0.1 s of work in 20 min can be seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from jobs.lifecycle import WAITING
from jobs.models import AnyFailedAttempt, JobRow
from jobs.reading.revivals import Revival

OFF, LINE, START, RUN, FAILED = "off", "line", "start", "run", "failed"  # kinds of pieces; OFF: the job had ended
WORK = (RUN, FAILED)
SHORT = 0.1  # seconds: a shorter wait is not drawn
MIN_WIDTH = 0.8  # percent of the scale: a piece that can still be seen
BETWEEN_TICKS = 16.0  # percent of the scale, at least
MOST_ROWS = 20  # of failed attempts


@dataclass(frozen=True)
class Piece:
    """A piece of a row.

    x, width: percent of the scale.
    is_cut: whether the scale leaves out a part of it.
    """

    kind: str
    since: datetime
    seconds: float
    x: float = 0.0
    width: float = 0.0
    is_cut: bool = False

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True)
class Row:
    """An attempt, or the wait for the next one.

    failure: the failed attempt; None: it is none.
    error: what its reader may know of its error.
    state: the status of the job, if this is its last row; else "".
    worker: who ran it, or runs it.
    revived: the revivals before it, the first one first.
    skipped: the attempts before it of which no more is known than that they were no failures.
    """

    number: int
    failure: AnyFailedAttempt | None = None
    error: str = ""
    state: str = ""
    worker: UUID | None = None
    revived: tuple[Revival, ...] = ()
    skipped: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()

    @property
    def waits(self) -> bool:
        return self.state in WAITING

    @property
    def seconds(self) -> dict[str, float]:
        """Return how long its pieces took, by kind."""
        return {piece.kind: piece.seconds for piece in self.pieces}


@dataclass(frozen=True)
class Attempts:
    """The rows, the last one first, and the scale.

    ticks: moments on the scale, and where: percent.
    earlier: attempts that have no row.
    """

    rows: list[Row] = field(default_factory=list)
    since: datetime | None = None
    until: datetime | None = None
    ticks: list[tuple[datetime, float]] = field(default_factory=list)
    is_cut: bool = False
    earlier: int = 0


def attempt_rows(
    job: JobRow,
    failed: Sequence[AnyFailedAttempt],
    revivals: Sequence[Revival],
    now: datetime,
    told: Callable[[AnyFailedAttempt], str],
) -> Attempts:
    """Return the rows of the attempts that failed, and of the one that did not, or of the wait for the next one.

    failed: the last MOST_ROWS of them, in their order.
    told: what the reader may know of the error of one.
    """
    earlier = failed[0].attempt - 1 if len(failed) == MOST_ROWS else 0
    since = (failed[0].queued_at or failed[0].end_time) if earlier else job.created_at
    before, rows = (since, earlier), list[Row]()
    for one in failed:
        row = Row(one.attempt, one, told(one))
        rows.append(_drawn(row, one, one.end_time, before, revivals))
        before = one.end_time, one.attempt
    if job.status in WAITING:
        rows.append(_drawn(Row(job.attempt + 1, state=job.status), None, now, before, revivals))
    elif job.attempt > before[1]:
        rows.append(_drawn(Row(job.attempt, state=job.status), job, job.end_time or now, before, revivals))
    placed = _placed(rows)
    pieces = [piece for row in placed for piece in row.pieces]
    is_cut = any(piece.is_cut for piece in pieces)
    return Attempts(placed[::-1], since, job.end_time or now, _ticks(pieces), is_cut, earlier)


def _drawn(
    row: Row,
    attempt: JobRow | AnyFailedAttempt | None,
    end: datetime,
    before: tuple[datetime, int],
    revivals: Sequence[Revival],
) -> Row:
    """Return the row with its pieces, which are not placed yet.

    before: the end of the attempt before, and its number.
    """
    free, number = before
    queued = attempt.queued_at if attempt else None
    started = attempt.start_time if attempt else None
    claimed = end if queued is None else queued
    revived = tuple(one for one in revivals if free <= one.at <= claimed)
    back = revived[-1].at if revived else free
    spans = [(OFF, free, back), (LINE, back, claimed), (START, queued, started or end)]
    spans.append((FAILED if row.failure else RUN, started, end))
    pieces = [Piece(kind, since, (until - since).total_seconds()) for kind, since, until in spans if since is not None]
    seen = tuple(piece for piece in pieces if piece.seconds >= (0 if piece.kind in WORK else SHORT))
    worker = attempt.worker if attempt else None
    return replace(row, worker=worker, revived=revived, skipped=tuple(range(number + 1, row.number)), pieces=seen)


def _placed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their pieces at their places on the scale."""
    pieces = [piece for row in rows for piece in row.pieces]
    work = sum(piece.seconds for piece in pieces if piece.kind in WORK)
    waits = [piece.seconds for piece in pieces if piece.kind not in WORK]
    most = work / len(waits) if waits and 0 < work < sum(waits) else float("inf")

    def length(piece: Piece) -> float:
        return piece.seconds if piece.kind in WORK else min(piece.seconds, most)

    whole, at, placed = sum(map(length, pieces)) or 1.0, 0.0, list[Row]()
    for row in rows:
        own = []
        for piece in row.pieces:
            share = length(piece) / whole * 100
            width, x = max(share, MIN_WIDTH), min(at, 100 - MIN_WIDTH)
            own.append(replace(piece, x=x, width=min(width, 100 - x), is_cut=piece.seconds > length(piece)))
            at += share
        placed.append(replace(row, pieces=tuple(own)))
    return placed


def _ticks(pieces: Sequence[Piece]) -> list[tuple[datetime, float]]:
    """Return the starts of work that have room between the ends of the scale, and between each other."""
    ticks, last = list[tuple[datetime, float]](), 0.0
    for piece in pieces:
        if piece.kind in WORK and last + BETWEEN_TICKS <= piece.x <= 100 - BETWEEN_TICKS:
            ticks.append((piece.since, piece.x))
            last = piece.x
    return ticks
