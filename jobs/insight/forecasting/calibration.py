"""Calibration: correct new predictions by how often earlier ones came true.

Adaptive conformal inference (Gibbs and Candès, NeurIPS 2021), on the logarithm of the time, by class and quantile.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

QUANTILES = (0.5, 0.9)
STEP = 0.02  # the size of a step of the factor's logarithm, after many outcomes
FIRST = 4.0  # the first step is so many times as large; after 45 outcomes it is STEP
FALLS = 15.0  # outcomes after which the first step has halved
HANDOVER = 0.2  # seconds added to each prediction: a job that could start at once still has to be handed over
LEARNED = 50  # outcomes that a class needs before its p90 is returned, too
MEMORY = 50  # about so many of the last outcomes tell how often the predictions of a class hold now
HOLDS = 0.8  # the part of a class's p90 predictions that must hold; below it only `not_before` is returned
BOUNDS = ((3.0, "3s"), (30.0, "30s"), (300.0, "5m"), (3600.0, "1h"))


@dataclass(frozen=True)
class Factor:
    """The factor by which the predictions of a class are multiplied, for one quantile.

    log: the logarithm of the factor
    outcomes: the number of predictions whose outcome is known
    held: the part of the last outcomes in which the prediction held
    """

    log: float = 0.0
    outcomes: int = 0
    held: float = 0.0

    def calibrate(self, raw: float) -> float:
        """Return the calibrated prediction for `raw` seconds from the draws."""
        return exp(self.log) * (raw + HANDOVER)

    def after(self, *, held: bool, q: float) -> "Factor":
        """Return the factor after one more outcome.

        held: whether the job started by the moment that was predicted for the quantile q
        """
        step = STEP * max(1.0, FIRST / (1.0 + self.outcomes / FALLS))
        known = min(self.outcomes, MEMORY - 1)
        return replace(
            self,
            log=self.log + step * ((not held) - (1.0 - q)),
            outcomes=self.outcomes + 1,
            held=(self.held * known + held) / (known + 1),
        )


def class_of(gate: str, raw: float) -> str:
    """Return the class of a prediction: the gate that holds the job, and the range of its raw p50 in seconds."""
    return f"{gate} {next((name for bound, name in BOUNDS if raw <= bound), 'more')}"


def outcome(said_at: datetime, started_at: datetime | None, now: datetime) -> bool | None:
    """Return whether a prediction held: the job started by `said_at`. None while that is still open.

    A job that has not started when that moment passes is a miss at once. So long waits teach as early as short ones.
    """
    if started_at is not None:
        return started_at <= said_at
    return False if now > said_at else None
