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
    for prediction in statements.open_predictions():
        before, after = (prediction.held_50, prediction.held_90), outcomes(prediction)
        for q, was, held in zip((0.5, 0.9), before, after, strict=True):
            if held is not None and was is None:
                key = prediction.kind, q
                learned[key] = learned.get(key, factors.get(key, Factor())).after(held=held, q=q)
        if prediction.void or prediction.started is not None or after != before:
            held_50, held_90 = after
            known = {"started": prediction.started, "held_50": held_50, "held_90": held_90, "void": prediction.void}
            Prediction.objects.filter(pk=prediction.id).update(**known)
    statements.keep_factors(learned)
    return factors | learned


def outcomes(prediction: Open) -> tuple[bool | None, bool | None]:
    """Return whether p50 and p90 held; None: not known yet. A void prediction has no further outcome."""
    if prediction.void:
        return prediction.held_50, prediction.held_90
    started_at = None if prediction.started is None else prediction.made_at + timedelta(seconds=prediction.started)

    def held(seconds: float) -> bool | None:
        return outcome(prediction.made_at + timedelta(seconds=seconds), started_at, prediction.now)

    return (
        held(prediction.said_50) if prediction.held_50 is None else prediction.held_50,
        held(prediction.said_90) if prediction.held_90 is None else prediction.held_90,
    )
