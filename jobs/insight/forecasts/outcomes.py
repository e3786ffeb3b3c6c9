"""Learn from the outcomes of predictions: whether a job had started by the predicted moment."""

from datetime import timedelta

from jobs.insight.forecasting.calibration import Factor, outcome
from jobs.insight.forecasts import statements
from jobs.insight.forecasts.statements import Open
from jobs.models import Prediction

Factors = dict[tuple[str, float], Factor]


def learn(factors: Factors) -> Factors:
    """Note the outcomes that are known by now, and correct the factors by them; return the new factors.

    The caller holds the lock of the recorder's task, so that no outcome counts twice.
    """
    learned: Factors = {}
    for one in statements.open_predictions():
        before, after = (one.held_50, one.held_90), outcomes(one)
        for q, was, held in zip((0.5, 0.9), before, after, strict=True):
            if held is not None and was is None:
                key = one.kind, q
                learned[key] = learned.get(key, factors.get(key, Factor())).after(held=held, q=q)
        if one.void or one.started is not None or after != before:
            held_50, held_90 = after
            known = {"started": one.started, "held_50": held_50, "held_90": held_90, "void": one.void}
            Prediction.objects.filter(pk=one.id).update(**known)
    statements.keep_factors(learned)
    return factors | learned


def outcomes(one: Open) -> tuple[bool | None, bool | None]:
    """Return whether p50 and p90 held; None: not known yet. A void prediction has no further outcome."""
    if one.void:
        return one.held_50, one.held_90
    started_at = None if one.started is None else one.made_at + timedelta(seconds=one.started)

    def held(seconds: float) -> bool | None:
        return outcome(one.made_at + timedelta(seconds=seconds), started_at, one.now)

    return (
        held(one.said_50) if one.held_50 is None else one.held_50,
        held(one.said_90) if one.held_90 is None else one.held_90,
    )
