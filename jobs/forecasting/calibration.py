"""Calibration: what is said follows how often such statements held.

Adaptive conformal inference (Gibbs and Candès, NeurIPS 2021), on the logarithm of the time, by class and quantile.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

QUANTILES = (0.5, 0.9)
STEP = 0.02  # of the factor's logarithm after an outcome
FIRST = 4.0  # times as large is the first step; it falls to one after 45 outcomes
FALLS = 15.0
HANDOVER = 0.2  # seconds, so that a job that starts at once is not promised for no time at all
LEARNED = 50  # outcomes before which a class says p50 alone
MEMORY = 50  # about as many outcomes tell how often the statements of a class hold now
HOLDS = 0.8  # of the statements of p90 must hold, or the class says no more than "not before"
BOUNDS = ((3.0, "3s"), (30.0, "30s"), (300.0, "5m"), (3600.0, "1h"))


@dataclass(frozen=True)
class Factor:
    """Of a class and a quantile. log: of the factor. outcomes: so far. held: the part of the last ones that held."""

    log: float = 0.0
    outcomes: int = 0
    held: float = 0.0

    def said(self, raw: float) -> float:
        """What may be said of so many seconds."""
        return exp(self.log) * (raw + HANDOVER)

    def after(self, *, held: bool, q: float) -> "Factor":
        """With one more outcome: held, if the job started by the moment that was said for the quantile q."""
        step = STEP * max(1.0, FIRST / (1.0 + self.outcomes / FALLS))
        known = min(self.outcomes, MEMORY - 1)
        return replace(
            self,
            log=self.log + step * ((not held) - (1.0 - q)),
            outcomes=self.outcomes + 1,
            held=(self.held * known + held) / (known + 1),
        )


def class_of(gate: str, raw: float) -> str:
    """The class of a prediction: what holds the job, and how long about."""
    return f"{gate} {next((name for bound, name in BOUNDS if raw <= bound), 'more')}"


def outcome(said_at: datetime, started_at: datetime | None, now: datetime) -> bool | None:
    """Whether a statement held; None while nobody can know.

    Who has not started when the said moment passes is a miss at once: so long waits teach as early as short ones.
    """
    if started_at is not None:
        return started_at <= said_at
    return False if now > said_at else None
