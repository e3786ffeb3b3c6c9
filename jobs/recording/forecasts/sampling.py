"""Some statements to learn from: half of any job that waits, half of those that came lately."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from jobs.forecasting.calibration import QUANTILES, Factor, class_of
from jobs.forecasting.far import TENTH
from jobs.forecasting.lines import Foresight, Place
from jobs.forecasting.quantiles import quantile
from jobs.forecasting.scene import InLine
from jobs.models import Prediction
from jobs.recording.forecasts.statements import EndedAttempt

AT_ONCE = 60.0  # seconds: those of so long, at most
LAST_WAITS = 20  # of a lane: a baseline


@dataclass(frozen=True)
class _Stands:
    place: Place
    job: InLine
    weight: float  # the jobs of its line that it stands for: those behind the one before it


def sampled(
    places: Sequence[Sequence[Place]],
    foresight: Foresight,
    ended: Sequence[EndedAttempt],
    since: float,
    a_minute: float,
) -> Iterator[Prediction]:
    """Some of the places in all lines. since: the seconds since the last forecast. ended: the newest last."""
    random = foresight.odds.random
    standing = [one for line in places for one in _standing(line)]
    new = [one for one in standing if one.job.ready_at > -since]
    wanted = min(since, AT_ONCE) * a_minute / 60.0
    number = int(wanted) + (random.random() < wanted % 1)
    for n in range(number if standing else 0):
        among = new if n % 2 and new else standing
        (one,) = random.choices(among, [job.weight for job in among])
        yield _spoken(one.place, one.job, foresight, ended)


def _standing(line: Sequence[Place]) -> Iterator[_Stands]:
    last = 0
    for place in line:
        if place.job is not None:
            yield _Stands(place, place.job, float(max(place.job.nth - last, 1)))
            last = place.job.nth


def _spoken(place: Place, job: InLine, foresight: Foresight, ended: Sequence[EndedAttempt]) -> Prediction:
    """Calibrated, even if no more than a part of it is said; with the baselines."""
    kind = class_of(place.gate.value, place.raw_50)
    half, most = (foresight.factors.get((kind, q), Factor()) for q in QUANTILES)
    said_50 = half.said(place.raw_50)
    ahead, waits = _ahead(job, foresight), _waits(job, ended)
    return Prediction(
        job_id=job.id,
        kind=kind,
        reason=place.said.reason or "",
        raw_50=place.raw_50,
        raw_90=place.raw_90,
        said_50=said_50,
        said_90=max(most.said(place.raw_90), said_50),
        ahead_50=ahead,
        ahead_90=None if ahead is None else ahead * (1 + TENTH / sqrt(job.nth)),
        past_50=quantile(waits, 0.5) if waits else None,
        past_90=quantile(waits, 0.9) if waits else None,
        void=not isfinite(place.raw_90),
    )


def _ahead(job: InLine, foresight: Foresight) -> float | None:
    """A baseline: the jobs ahead, each of the mean length, in the slots of the tenant."""
    slots = next(one["num_slots"] for one in foresight.scene.tenants if one["id"] == job.tenant_id)
    return job.nth * foresight.odds.runs.mean(job.tenant_id, job.job_type) / slots if slots else None


def _waits(job: InLine, ended: Sequence[EndedAttempt]) -> list[float]:
    """A baseline: the last waits in its lane."""
    lane = job.tenant_id, job.queue_id
    found = [
        one.started_at - one.ready_at
        for one in ended
        if one.ready_at is not None and one.started_at is not None and (one.tenant_id, one.queue_id) == lane
    ]
    return found[-LAST_WAITS:]
