"""The recorder's duty: predict when the jobs in line start, and learn from earlier predictions."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random
from time import monotonic

from django.db import transaction

from jobs import store
from jobs.insight.forecasting import runs
from jobs.insight.forecasting.published_lines import Foresight, Key, PredictedPlace
from jobs.insight.forecasting.replay.idle_gaps import idle_gaps
from jobs.insight.forecasting.simulation import Odds
from jobs.insight.forecasts import statements
from jobs.insight.forecasts.outcomes import learn
from jobs.insight.forecasts.sampling import sampled
from jobs.insight.forecasts.statements import EndedAttempt
from jobs.models import Forecast, Prediction
from jobs.reading.health.looks import look_predictions
from jobs.reading.starts import Reason
from jobs.recording.record import DAY
from jobs.recording.statements import begin_task, end_task
from jobs.worker.clock.duties import REST_FACTOR, Duty

TASK = "forecast"
A_MINUTE = 12.0  # predictions to learn from
REMEMBERED = 20_000  # attempts
ENOUGH = 2_000  # attempts
BACK = (timedelta(minutes=10), timedelta(hours=1), DAY)  # how far back the first look reads, until it has ENOUGH
NEWEST = 1_000  # attempts from which idle gaps are estimated; only the newest, since gaps grow with the load
KEPT = 35 * DAY  # how long predictions are kept


class Forecasting:
    """The duty, which remembers the attempts that have ended; each look reads only those that have ended since.

    a_minute: the predictions to learn from, in a minute
    """

    def __init__(self, random: Random | None = None, a_minute: float = A_MINUTE) -> None:
        self._random = random or Random()  # noqa: S311 - no secret
        self._a_minute = a_minute
        self._ended: deque[EndedAttempt] = deque(maxlen=REMEMBERED)  # the newest last
        self._made_at: datetime | None = None
        self._is_empty = False

    def run(self) -> None:
        """Replace all forecasts, keep some predictions to learn from, and learn from earlier ones."""
        if statements.has_line():
            self._forecast()
            self._is_empty = False
        elif not self._is_empty:
            with transaction.atomic():
                begin_task(TASK, DAY.total_seconds())
                learn(statements.read_factors())
                Forecast.objects.all().delete()
            self._is_empty = True

    def _forecast(self) -> None:
        begins = monotonic()
        moment, snapshot = statements.look_ahead()
        self._remember(moment)
        known = list(reversed(self._ended))
        with transaction.atomic():
            begin_task(TASK, DAY.total_seconds())
            factors = learn(statements.read_factors())
        light = {queue["id"] for queue in snapshot.queues if queue["pool"] in snapshot.light}
        gaps = idle_gaps(known[:NEWEST], light)
        odds = Odds(runs.collected(known), self._random, gaps, runs.spread(known))
        foresight = Foresight(snapshot, odds, factors, off=look_predictions().off)
        lines = foresight.lines()
        places = [line for line in lines.values() if not isinstance(line, Reason)]
        since = 60.0 if self._made_at is None else (moment - self._made_at).total_seconds()
        with transaction.atomic():
            begin_task(TASK, DAY.total_seconds())
            statements.replace_forecasts([_forecast(moment, *line) for line in lines.items()], moment)
            statements.keep_predictions(moment, sampled(places, foresight, self._ended, since, self._a_minute))
            end_task(TASK, moment, seconds=monotonic() - begins)
        self._made_at = moment

    def _remember(self, moment: datetime) -> None:
        """Add the attempts that have ended since the last look."""
        if self._ended:
            attempts = statements.ended_since(self._ended[-1].at, REMEMBERED)
        else:
            for back in BACK:
                attempts = statements.ended_since(moment - back, REMEMBERED)
                if len(attempts) >= ENOUGH:
                    break
        self._ended.extend(reversed(attempts))


def forget_old() -> None:
    """Delete the predictions that are older than KEPT."""
    Prediction.objects.filter(made_at__lt=store.database_now() - KEPT).delete()


def duties() -> list[Duty]:
    """Return the duties of the leading clock."""
    return [
        Duty(10.0, Forecasting().run, next_at=monotonic() + 10.0, rest=REST_FACTOR),  # not as it begins
        Duty(3600.0, forget_old),
    ]


def _forecast(made_at: datetime, key: Key, places: list[PredictedPlace] | Reason) -> Forecast:
    tenant, queue, user = key
    reason, rows = (places.value, []) if isinstance(places, Reason) else ("", _places(places))
    return Forecast(tenant_id=tenant, queue_id=queue, user_key=user, made_at=made_at, reason=reason, places=rows)


def _places(places: Iterable[PredictedPlace]) -> list[list[float | str | None]]:
    return [
        [
            place.place,
            _short(place.prediction.p50),
            _short(place.prediction.p90),
            _short(place.prediction.not_before),
            place.prediction.reason,
        ]
        for place in places
    ]


def _short(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)
