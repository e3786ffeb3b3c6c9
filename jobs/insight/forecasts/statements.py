"""The statements of a forecast: it reads the snapshot and the ended attempts, and writes predictions and factors."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import F

from jobs.insight.forecasting.calibration import Factor
from jobs.insight.forecasting.runs import TimedAttempt
from jobs.insight.forecasting.snapshot import ComingJob, Holding, InLine, Snapshot
from jobs.models import Calibration, Forecast, Prediction, PredictionTotal
from jobs.reading.looking import reading_as_sets
from jobs.store.rows import objects, rows

READ_JOBS = 4_000  # the most jobs in line that are read, of all lanes
READ_OF_A_LANE = 400
WALKED = 20_000  # the most jobs in line that are counted, of all lanes
FARTHEST_PLACE = 1_000  # the last number in a lane that is read
MARKS = (550, 700, 850, 1_000)  # numbers further back that are read, too; see FIRST_MARKS
FIRST_MARKS = (55, 70, 85, 100, 140, 200, 280, 400)
ARRIVALS = 5_000  # the most arrivals that are read
WINDOW = 300.0  # seconds of arrivals
HORIZON = 3_600.0  # seconds: jobs that are due within them are read
MOST_OPEN = 5_000  # the most predictions that are looked at
# As in explain: no plan may depend on the age of a table's statistics.
PLANNER = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL jit = off"

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedAttempt(TimedAttempt):
    """An attempt that has ended. Its moments are seconds since 1970.

    at: the moment of its end, as a datetime
    """

    at: datetime


@dataclass(frozen=True)
class Open:
    """A prediction whose job had not started at the last look.

    kind: its class (calibration.class_of)
    started: the seconds from made_at to the start of the job; None: not yet
    void: whether it has no further outcome, since a person or a pause came between
    """

    id: int
    kind: str
    made_at: datetime
    said_50: float
    said_90: float
    held_50: bool | None
    held_90: bool | None
    now: datetime
    started: float | None
    void: bool


def has_line() -> bool:
    """Return whether any job is in line."""
    return bool(rows("has_line", tenants=None)[0][0])


def look_ahead() -> tuple[datetime, Snapshot]:
    """Return the moment of the look, and the snapshot at that moment."""
    bounds: dict[str, Any] = {"jobs": READ_JOBS, "near": READ_OF_A_LANE, "walked": WALKED, "deep": FARTHEST_PLACE}
    bounds |= {"marks": [*FIRST_MARKS, *MARKS], "arrivals": ARRIVALS, "window": WINDOW, "horizon": HORIZON}
    with reading_as_sets(PLANNER):
        ((moment, window, pools, light, *parts),) = rows("look_ahead", tenants=None, **bounds)
    queues, tenants, lines, in_line, holding, due, holds, arrived = parts
    lanes = [((line["tenant_id"], line["queue_id"]), line) for line in json.loads(lines)]
    return moment, Snapshot(
        pools=json.loads(pools),
        light=json.loads(light),
        queues=json.loads(queues),
        tenants=json.loads(tenants),
        lanes={lane: line["known"] for lane, line in lanes if line["known"]},
        waiting={lane: line["waiting"] for lane, line in lanes},
        in_line=_each(InLine, in_line),
        holding=_each(Holding, holding),
        due=_each(ComingJob, due),
        arrived=_each(ComingJob, arrived),
        holds={(row["tenant_id"], row["queue_id"]): row["until"] for row in json.loads(holds)},
        window=window,
    )


def _each(kind: Callable[..., Kind], text: str) -> list[Kind]:
    return [kind(**row) for row in json.loads(text)]


def ended_since(moment: datetime, most: int) -> list[EndedAttempt]:
    """Return the attempts that ended after a moment, the newest first.

    most: the most attempts
    """
    return objects(EndedAttempt, "ended_since", moment=moment, most=most)


def replace_forecasts(forecasts: Sequence[Forecast], made_at: datetime) -> None:
    """Store these forecasts, all made at `made_at`, and delete all others."""
    Forecast.objects.bulk_create(
        forecasts,
        update_conflicts=True,
        unique_fields=["tenant_id", "queue_id", "user_key"],
        update_fields=["made_at", "reason", "places"],
    )
    Forecast.objects.exclude(made_at=made_at).delete()


def read_factors() -> dict[tuple[str, float], Factor]:
    """Return all factors, by class and quantile."""
    rows = Calibration.objects.values_list("kind", "quantile", "log", "outcomes", "held")
    return {(kind, quantile): Factor(log, outcomes, held) for kind, quantile, log, outcomes, held in rows}


def keep_factors(factors: Mapping[tuple[str, float], Factor]) -> None:
    """Store these factors."""
    Calibration.objects.bulk_create(
        [Calibration(kind=kind, quantile=q, **asdict(factor)) for (kind, q), factor in factors.items()],
        update_conflicts=True,
        unique_fields=["kind", "quantile"],
        update_fields=["log", "outcomes", "held"],
    )


def keep_predictions(made_at: datetime, predictions: Iterable[Prediction]) -> None:
    """Store predictions, and count them by the reason for which a moment is missing."""
    counted: Counter[str] = Counter()
    for prediction in predictions:
        prediction.made_at = made_at
        prediction.save()
        counted[prediction.reason] += 1
    for reason, n in counted.items():
        total, new = PredictionTotal.objects.get_or_create(reason=reason, defaults={"predictions": n})
        if not new:
            PredictionTotal.objects.filter(pk=total.pk).update(predictions=F("predictions") + n)


def open_predictions() -> list[Open]:
    """Return the predictions whose jobs had not started at the last look, the oldest first."""
    return objects(Open, "open_predictions", most=MOST_OPEN)
