"""Choose some predictions to learn from: half of any waiting jobs, half of jobs that arrived lately."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from jobs.insight.forecasting.calibration import QUANTILES, Factor, class_of
from jobs.insight.forecasting.far_estimates import TENTH
from jobs.insight.forecasting.published_lines import Foresight, PredictedPlace
from jobs.insight.forecasting.quantiles import quantile
from jobs.insight.forecasting.snapshot import InLine
from jobs.insight.forecasts.statements import EndedAttempt
from jobs.models import Prediction

AT_ONCE = 60.0  # seconds: after a longer pause no more predictions are kept than for so long
LAST_WAITS = 20  # waits of a lane that the baseline is made of


@dataclass(frozen=True)
class _Stands:
    place: PredictedPlace
    job: InLine
    weight: float  # the number of jobs that it stands for: it, and those between it and the predicted job before it


def sampled(
    places: Sequence[Sequence[PredictedPlace]],
    foresight: Foresight,
    ended: Sequence[EndedAttempt],
    since: float,
    a_minute: float,
) -> Iterator[Prediction]:
    """Yield the predictions for some of the places in all lines.

    ended: the attempts that have ended, the newest last
    since: the seconds since the last forecast
    a_minute: the number of predictions in a minute
    """
    random = foresight.odds.random
    standing = [sample for line in places for sample in _standing(line)]
    new = [sample for sample in standing if sample.job.ready_at > -since]
    wanted = min(since, AT_ONCE) * a_minute / 60.0
    number = int(wanted) + (random.random() < wanted % 1)
    for n in range(number if standing else 0):
        among = new if n % 2 and new else standing
        (chosen,) = random.choices(among, [job.weight for job in among])
        yield _prediction(chosen.place, chosen.job, foresight, ended)


def _standing(line: Sequence[PredictedPlace]) -> Iterator[_Stands]:
    last = 0
    for place in line:
        if place.job is not None:
            yield _Stands(place, place.job, float(max(place.job.nth - last, 1)))
            last = place.job.nth


def _prediction(place: PredictedPlace, job: InLine, foresight: Foresight, ended: Sequence[EndedAttempt]) -> Prediction:
    """Return the calibrated prediction for a job, with both moments, even if users see less; and the baselines."""
    kind = class_of(place.gate.value, place.raw_50)
    half, far = (foresight.factors.get((kind, q), Factor()) for q in QUANTILES)
    said_50 = half.calibrate(place.raw_50)
    ahead, waits = _ahead(job, foresight), _waits(job, ended)
    return Prediction(
        job_id=job.id,
        kind=kind,
        reason=place.prediction.reason or "",
        raw_50=place.raw_50,
        raw_90=place.raw_90,
        said_50=said_50,
        said_90=max(far.calibrate(place.raw_90), said_50),
        ahead_50=ahead,
        ahead_90=None if ahead is None else ahead * (1 + TENTH / sqrt(job.nth)),
        past_50=quantile(waits, 0.5) if waits else None,
        past_90=quantile(waits, 0.9) if waits else None,
        void=not isfinite(place.raw_90),
    )


def _ahead(job: InLine, foresight: Foresight) -> float | None:
    """Return a baseline in seconds: the jobs ahead, by their mean run time and the tenant's slots; None without any."""
    slots = next(tenant["num_slots"] for tenant in foresight.snapshot.tenants if tenant["id"] == job.tenant_id)
    return job.nth * foresight.odds.runs.mean(job.tenant_id, job.job_type) / slots if slots else None


def _waits(job: InLine, ended: Sequence[EndedAttempt]) -> list[float]:
    """Return a baseline: the last waits in the job's lane, in seconds."""
    lane = job.tenant_id, job.queue_id
    waits = [
        attempt.started_at - attempt.ready_at
        for attempt in ended
        if attempt.ready_at is not None
        and attempt.started_at is not None
        and (attempt.tenant_id, attempt.queue_id) == lane
    ]
    return waits[-LAST_WAITS:]
