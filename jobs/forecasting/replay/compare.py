"""What a replay says: waits as they were recorded, replayed unchanged and changed; and how far off the replay is."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

from jobs.allocation.state import LaneId
from jobs.allocation.world import Pauses
from jobs.forecasting.quantiles import quantile
from jobs.forecasting.replay.record import Hypothesis, Record
from jobs.forecasting.replay.replay import Replay, counts

LEAST_WAIT = 0.5  # seconds that an error is relative to, at least
MOST_ERROR = 0.2  # of the mean wait, beyond which a replay does not know what a change would do


@dataclass(frozen=True)
class Waits:
    """Seconds. None: not all have started, so there is no mean; nor a p95 if that one has not."""

    mean: float | None
    p50: float | None
    p95: float | None


@dataclass(frozen=True)
class Line:
    """The attempts of a tenant in a queue. slot_seconds: that those took which have ended, with any limits. never: that
    the changes would not let start within six hours more.
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
    def clear(self) -> bool:
        """Whether the difference is larger than what the replay is off in this line."""
        was, real = self.replayed.mean, self.recorded.mean
        if self.changed is None or was is None or real is None:
            return False
        now = self.changed.mean
        return bool(self.never) if now is None else abs(now - was) > abs(was - real)


@dataclass(frozen=True)
class Error:
    """Of the replay of what was: the mean over the attempts, of the lines' errors relative to what was recorded."""

    mean: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Answer:
    """error: None: no attempt became ready in the window. unreplayed: attempts of whom no limits are known."""

    attempts: int
    lines: Sequence[Line]
    error: Error | None
    unreplayed: int = 0

    @property
    def knows(self) -> bool:
        return self.error is not None and self.error.mean <= MOST_ERROR


def answer(record: Record, pauses: Pauses, hypothesis: Hypothesis) -> Answer:
    """The replay as it was and, if that is near to what was recorded, as it would have been."""
    replayed = Replay(record, pauses).waits()
    found = _answer(record, replayed, None)
    if not found.knows or not hypothesis:
        return found
    return _answer(record, replayed, Replay(record, pauses, hypothesis).waits())


def _answer(record: Record, replayed: Sequence[float | None], changed: Sequence[float | None] | None) -> Answer:
    of_lane: dict[LaneId, list[int]] = defaultdict(list)
    unreplayed = 0
    for n, one in enumerate(record.past):
        if counts(record, one):
            if replayed[n] is None:
                unreplayed += 1
            else:
                of_lane[one.tenant_id, one.queue_id].append(n)
    lines = [_line(record, lane, found, replayed, changed) for lane, found in sorted(of_lane.items())]
    return Answer(sum(line.attempts for line in lines), lines, error(lines), unreplayed)


def _line(
    record: Record,
    lane: LaneId,
    found: Sequence[int],
    replayed: Sequence[float | None],
    changed: Sequence[float | None] | None,
) -> Line:
    past = [record.past[n] for n in found]
    recorded = [max((one.started_at or 0.0) - one.ready_at, 0.0) for one in past]
    would_be = None if changed is None else [changed[n] for n in found]
    return Line(
        *lane,
        len(found),
        sum(one.ended_at - (one.started_at or 0.0) for one in past if one.ended_at is not None),
        waits(recorded),
        waits([replayed[n] for n in found]),
        None if would_be is None else waits(would_be),
        0 if would_be is None else would_be.count(None),
    )


def waits(found: Sequence[float | None]) -> Waits:
    """Of these seconds, where None has not started."""
    started = [one for one in found if one is not None]
    if len(started) == len(found):
        return Waits(fmean(started), quantile(started, 0.5), quantile(started, 0.95))
    late = [inf if one is None else one for one in found]
    p50, p95 = quantile(late, 0.5), quantile(late, 0.95)
    return Waits(None, None if p50 == inf else p50, None if p95 == inf else p95)


def error(lines: Sequence[Line]) -> Error | None:
    """Of the replay against what was recorded."""
    total = sum(line.attempts for line in lines)
    if not total:
        return None

    def off(name: str) -> float:
        pairs = ((line.attempts, getattr(line.replayed, name), getattr(line.recorded, name)) for line in lines)
        return sum(attempts / total * relative(said, real) for attempts, said, real in pairs)

    return Error(off("mean"), off("p50"), off("p95"))


def relative(said: float, real: float) -> float:
    """How far what was said is off, as a part of what was real."""
    return abs(said - real) / max(real, LEAST_WAIT)
