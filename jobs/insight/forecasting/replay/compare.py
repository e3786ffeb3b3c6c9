"""Compare waits: recorded, replayed with the real limits, replayed with other limits; and the error of the replay."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

from jobs.allocation.state import LaneId
from jobs.allocation.world import IdleGaps
from jobs.insight.forecasting.quantiles import quantile
from jobs.insight.forecasting.replay.record import Hypothesis, Record
from jobs.insight.forecasting.replay.replay import Replay, counts

LEAST_WAIT = 0.5  # seconds: an error is relative to the recorded wait, but at least to this
LEAST_CHANGE = 0.1  # of the replayed mean wait: a smaller change is not noticeable
MOST_ERROR = 0.2  # relative error of the mean wait above which a replay cannot predict a change


@dataclass(frozen=True)
class Waits:
    """The waits of attempts, in seconds.

    mean: None if not all have started
    p50: None if the attempt at this rank has not started
    p95: None if the attempt at this rank has not started
    """

    mean: float | None
    p50: float | None
    p95: float | None


@dataclass(frozen=True)
class LaneWaits:
    """The attempts of a tenant in a queue, with their waits.

    slot_seconds: the run time of those that have ended; limits do not change it
    changed: the waits with the other limits; None: not replayed
    never: the attempts that would not have started within six hours after the window, with the other limits
    """

    tenant_id: int
    queue_id: int
    attempts: int
    slot_seconds: float
    recorded: Waits
    replayed: Waits
    changed: Waits | None
    never: int = 0

    @property
    def noticeable(self) -> bool:
        """Return whether the other limits make a difference that people would notice.

        Some attempts would not start; or the mean wait changes by at least LEAST_CHANGE and LEAST_WAIT, and by more
        than the replay's error in this line.
        """
        was, real = self.replayed.mean, self.recorded.mean
        if self.changed is None or was is None or real is None:
            return False
        if self.changed.mean is None:
            return bool(self.never)
        change = abs(self.changed.mean - was)
        return change >= max(LEAST_WAIT, LEAST_CHANGE * was) and change > abs(was - real)

    @property
    def change(self) -> float:
        """Return the seconds that its attempts would wait more, all together; below 0: less.

        Infinite if some would not start.
        """
        if self.changed is None or self.replayed.mean is None:
            return 0.0
        return inf if self.changed.mean is None else self.attempts * (self.changed.mean - self.replayed.mean)


@dataclass(frozen=True)
class Error:
    """The relative error of the replay with the real limits: the mean of the lines' errors, weighted by attempts."""

    mean: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Comparison:
    """The waits of all lanes, and how near the replay comes.

    attempts: the number of attempts that were replayed
    lines: those with a noticeable change first, the largest changes before others
    error: None: no attempt of the window was replayed
    unreplayed: the number of attempts that did not start in the replay, or whose limits are not known
    """

    attempts: int
    lines: Sequence[LaneWaits]
    error: Error | None
    unreplayed: int = 0

    @property
    def knows(self) -> bool:
        return self.error is not None and self.error.mean <= MOST_ERROR


def compare(record: Record, idle_gaps: IdleGaps, hypothesis: Hypothesis) -> Comparison:
    """Replay the record with the real limits and, if that is near enough to the recorded waits, with the other ones."""
    replayed = Replay(record, idle_gaps).waits()
    unchanged = _comparison(record, replayed, None)
    if not unchanged.knows or not hypothesis:
        return unchanged
    return _comparison(record, replayed, Replay(record, idle_gaps, hypothesis).waits())


def _comparison(record: Record, replayed: Sequence[float | None], changed: Sequence[float | None] | None) -> Comparison:
    of_lane: dict[LaneId, list[int]] = defaultdict(list)
    unreplayed = 0
    for n, attempt in enumerate(record.past):
        if counts(record, attempt):
            if replayed[n] is None:
                unreplayed += 1
            else:
                of_lane[attempt.tenant_id, attempt.queue_id].append(n)
    lines = [_line(record, lane, indices, replayed, changed) for lane, indices in sorted(of_lane.items())]
    lines.sort(key=lambda line: (not line.noticeable, -abs(line.change), -line.attempts))
    return Comparison(sum(line.attempts for line in lines), lines, error(lines), unreplayed)


def _line(
    record: Record,
    lane: LaneId,
    indices: Sequence[int],
    replayed: Sequence[float | None],
    changed: Sequence[float | None] | None,
) -> LaneWaits:
    attempts = [record.past[n] for n in indices]
    recorded = [max((attempt.started_at or 0.0) - attempt.ready_at, 0.0) for attempt in attempts]
    would_be = None if changed is None else [changed[n] for n in indices]
    return LaneWaits(
        *lane,
        len(indices),
        sum(attempt.ended_at - (attempt.started_at or 0.0) for attempt in attempts if attempt.ended_at is not None),
        waits(recorded),
        waits([replayed[n] for n in indices]),
        None if would_be is None else waits(would_be),
        0 if would_be is None else would_be.count(None),
    )


def waits(seconds: Sequence[float | None]) -> Waits:
    """Return the mean and the quantiles of waits in seconds; None: this attempt has not started."""
    started = [wait for wait in seconds if wait is not None]
    if len(started) == len(seconds):
        return Waits(fmean(started), quantile(started, 0.5), quantile(started, 0.95))
    late = [inf if wait is None else wait for wait in seconds]
    p50, p95 = quantile(late, 0.5), quantile(late, 0.95)
    return Waits(None, None if p50 == inf else p50, None if p95 == inf else p95)


def error(lines: Sequence[LaneWaits]) -> Error | None:
    """Return the error of the replayed waits against the recorded ones; None if there are no attempts."""
    total = sum(line.attempts for line in lines)
    if not total:
        return None

    def off(name: str) -> float:
        pairs = ((line.attempts, getattr(line.replayed, name), getattr(line.recorded, name)) for line in lines)
        return sum(attempts / total * relative(estimate, real) for attempts, estimate, real in pairs)

    return Error(off("mean"), off("p50"), off("p95"))


def relative(estimate: float, real: float) -> float:
    """Return the relative error of an estimate."""
    return abs(estimate - real) / max(real, LEAST_WAIT)
