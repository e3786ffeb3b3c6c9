"""Predictions of a start: two moments, or the reason why they are missing."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite

from jobs.insight.forecasting.calibration import HOLDS, LEARNED, QUANTILES, Factor, class_of
from jobs.reading.starts import Reason

FARTHEST = 6 * 3600.0  # seconds; later starts are not predicted


@dataclass(frozen=True)
class StartPrediction:
    """A prediction, in seconds from the moment of the forecast.

    p50: None: at most `not_before` is known
    p90: None: p50 is shown as "about"
    not_before: the moment before which the job hardly starts; None: not known
    reason: why p50 or p90 is missing; None: neither is
    """

    p50: float | None = None
    p90: float | None = None
    not_before: float | None = None
    reason: Reason | None = None


def predict(
    gate: str,
    early: float,
    raw50: float,
    raw90: float,
    factors: Mapping[tuple[str, float], Factor],
    *,
    off: bool = False,
    least: float = 0.0,
) -> StartPrediction:
    """Return the prediction for raw quantiles, calibrated.

    early: the raw moment before which the job hardly starts
    raw50: the raw p50
    raw90: the raw p90
    factors: by class and quantile
    off: return no p90, since predictions do not hold in general
    least: the moment before which no job of the line starts, since it is held
    """
    half, far = (factors.get((class_of(gate, raw50), q), Factor()) for q in QUANTILES)
    not_before = max(early * min(exp(half.log), 1.0), least) if isfinite(early) else None
    if not isfinite(raw90):
        return StartPrediction(not_before=not_before, reason=Reason.URGENT_AHEAD)
    p50 = max(half.calibrate(raw50), least)
    p90 = max(far.calibrate(raw90), p50)
    if p90 > FARTHEST:
        return StartPrediction(not_before=not_before, reason=Reason.FAR)
    if far.outcomes < LEARNED:
        return StartPrediction(p50=p50, not_before=not_before, reason=Reason.LEARNING)
    if far.held < HOLDS:
        return StartPrediction(not_before=not_before, reason=Reason.UNSURE)
    return StartPrediction(p50, None if off else p90, not_before, Reason.OFF if off else None)


Row = tuple[int, float | None, float | None, float | None, str | None]  # place, p50, p90, not before, reason


def interpolate(rows: Sequence[Row], place: int) -> StartPrediction:
    """Return the prediction for a place: interpolated between its neighbours if both have a p50, else that behind it.

    Behind the last of the rows the reason is FAR.

    rows: in the order of the line
    """
    after = bisect_left(rows, place, key=lambda row: row[0])
    if after == len(rows):
        return StartPrediction(not_before=rows[-1][3] if rows else None, reason=Reason.FAR)
    later = _of_row(rows[after])
    if after == 0 or rows[after][0] == place or later.p50 is None:
        return later
    earlier = _of_row(rows[after - 1])
    if earlier.p50 is None:
        return later
    part = (place - rows[after - 1][0]) / (rows[after][0] - rows[after - 1][0])
    p90 = None if later.p90 is None else (earlier.p90 or later.p90) * (1 - part) + later.p90 * part
    return replace(later, p50=earlier.p50 * (1 - part) + later.p50 * part, p90=p90)


def _of_row(row: Row) -> StartPrediction:
    _, p50, p90, not_before, reason = row
    return StartPrediction(p50, p90, not_before, Reason(reason) if reason else None)
