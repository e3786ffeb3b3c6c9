"""The looks of health and metrics at the server, predictions, webhooks and budgets: a few short statements."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs.conf import settings
from jobs.models import Sample
from jobs.reading.shares import JUDGED, STARVED, percent
from jobs.reading.statistics import EndedAttempts
from jobs.reading.webhooks import MOST_COUNTED
from jobs.store.rows import objects, rows

LATE = timedelta(minutes=5)  # a count is final when its time has been over for so long
COUNTS_OF_A_MINUTE = {"minutes": timedelta(seconds=15), "late minutes": LATE}  # how long after its end
MOST_DEAD = 10_000  # counted
FAILING_LONG = 3600.0  # seconds of an endpoint
MOST_SHORT = 20  # tenants that got too little of their share
# Predictions are off if the share of p90 that held in the last hour is outside of these bounds. They need no full hour
# of outcomes: the first hour of a bad day is the worst.
MIN_OUTCOMES, LEAST_HELD, MOST_HELD = 200, 0.8, 0.97
MIN_JUDGED = 50  # outcomes of a day below which its forecasts are not judged
LOW = 0.8  # the part of a budget from which on it is low
TIMEOUT = 2.0  # seconds for one statement of a look


@dataclass(frozen=True)
class ServerLook:
    """The state of the recorder, of the messages and of PostgreSQL.

    now: the time of the database.
    recorder_age: seconds since the recorder last looked. None: it never has.
    oldest_transaction: its age in seconds.
    untaken: messages that no worker took up in time.
    dead: dead letters, counted to MOST_DEAD.
    kept_for: the replication slot that keeps most of the log (WAL). "": none keeps any.
    kept_log: the bytes that it keeps.
    """

    now: datetime
    clock_leads: bool
    recorder_age: float | None
    oldest_transaction: float
    connections: int
    max_connections: int
    untaken: int
    dead: int
    kept_for: str = ""
    kept_log: int = 0


@dataclass(frozen=True)
class BudgetLook:
    """A budget of a tenant for the present month (UTC), and what its attempts that have ended in it used.

    tenant: its slug.
    """

    tenant: str
    unit: str
    used: int
    amount: int

    @property
    def state(self) -> str:
        """`used up`: jobs that spend it are held; `low`: 80 % and more are used; or `open`."""
        return "used up" if self.used >= self.amount else "low" if self.used >= LOW * self.amount else "open"

    def facts(self) -> dict[str, Any]:
        """Return what documents say of it, beside the tenant."""
        return {"unit": self.unit, "used": self.used, "amount": self.amount, "state": self.state}


@dataclass(frozen=True)
class PredictionsLook:
    """The accuracy of the start predictions of the last day.

    predictions: their number.
    unsaid: those without a finite p90, for which no moment is predicted.
    known_*: those whose outcome is known.
    held_*: those whose job started by the moment.
    known_lately, held_lately: the numbers for p90 in the last hour.
    loss_*: the mean pinball loss in seconds, of those whose job has started.
    ahead_*, past_*: the losses of two simple methods, by the jobs ahead and by the last waits.
    """

    predictions: int
    unsaid: int
    known_50: int
    held_50: int
    known_90: int
    held_90: int
    known_lately: int
    held_lately: int
    loss_50: float | None
    loss_90: float | None
    ahead_50: float | None
    ahead_90: float | None
    past_50: float | None
    past_90: float | None

    @property
    def off(self) -> bool:
        """Return whether p90 held for clearly fewer, or more, than 90 % of the predictions of the last hour."""
        if self.known_lately < MIN_OUTCOMES:
            return False
        return not LEAST_HELD <= self.held_lately / self.known_lately <= MOST_HELD

    @property
    def points(self) -> list[tuple[float, float]]:
        """Return the promised share of jobs that start by a moment, and the share that did; without unknown ones."""
        known = ((0.5, self.held_50, self.known_50), (0.9, self.held_90, self.known_90))
        return [(promised, held / outcomes) for promised, held, outcomes in known if outcomes]

    @property
    def in_words(self) -> str:
        """Return how often the limits of the last day held; empty if no outcome is known."""
        if not self.known_90 or not self.known_50:
            return ""
        first, second = percent(self.held_50, self.known_50), percent(self.held_90, self.known_90)
        return f"{second} of {self.known_90:,} jobs started within their 90 % limit, {first} within their 50 % limit."

    @property
    def verdict(self) -> str:
        """Return a judgement of the forecasts, by the share of their 90 % limits that held."""
        if self.known_90 < MIN_JUDGED:
            return "Too few to judge."
        held = self.held_90 / self.known_90
        return "Too optimistic." if held < LEAST_HELD else "Too cautious." if held > MOST_HELD else "Reliable."

    @property
    def how_often(self) -> str:
        """The coverage, for a reader of one prediction; empty if no outcome is known."""
        if not self.known_90 or not self.known_50:
            return ""
        first, second = percent(self.held_50, self.known_50), percent(self.held_90, self.known_90)
        return f"In 24 h {first} of {self.known_90:,} such jobs started by the first moment, {second} by the second."


@dataclass(frozen=True)
class WebhooksLook:
    """The webhook endpoints by state, and the messages that wait for those that are on.

    failing_long: those of the failing ones that have failed for more than FAILING_LONG seconds.
    oldest: the seconds since the job of the oldest message ended.
    """

    working: int
    failing: int
    failing_long: int
    off: int
    waiting: int
    oldest: float


@dataclass(frozen=True)
class ForecastLook:
    """The number of predictions, and the age and the cost of forecasts.

    reasons: predictions since the first, by the reason for which p50 or p90 is missing; "" if neither is.
    ages: the seconds since the newest forecast, by pool with jobs in line.
    seconds: the time that the last forecast took. None: it is not known.
    """

    reasons: dict[str, int]
    ages: dict[str, float]
    seconds: float | None


@dataclass(frozen=True)
class TotalLook(EndedAttempts):
    """The attempts that ended since the first one: see `jobs.models.Total`."""

    wait_seconds: float
    process_wait_seconds: float


def look_server(tasks: Sequence[str]) -> ServerLook:
    """Return the state of the clock, of these tasks of the recorder, and of PostgreSQL itself."""
    patience = 3 * settings.JOBS_HAND_OVER_TIMEOUT  # by then its message was sent again, twice
    return objects(ServerLook, "health_server", tasks=list(tasks), patience=patience, most=MOST_DEAD)[0]


def look_totals() -> list[TotalLook]:
    return objects(TotalLook, "health_totals")


def look_sample() -> Sample:
    """Return the states and the fairness of the recorder's newest sample; an empty one if there is none."""
    return Sample.objects.only("states", "fairness").order_by("-at").first() or Sample()


def look_predictions() -> PredictionsLook:
    """Return the accuracy of the start predictions of the last day."""
    return objects(PredictionsLook, "health_predictions")[0]


def look_webhooks() -> WebhooksLook:
    return objects(WebhooksLook, "health_webhooks", long=FAILING_LONG, most=MOST_COUNTED)[0]


def look_forecasts() -> ForecastLook:
    """Return how many predictions were made, and the age and the cost of forecasts."""
    ((reasons, ages, seconds),) = rows("health_forecasts")
    return ForecastLook(json.loads(reasons), json.loads(ages), seconds)


def look_short_of_share() -> list[int]:
    """Return the tenants that got too little of their shares (`is_short`), at most MOST_SHORT; the worst first."""
    return [tenant_id for (tenant_id,) in rows("health_shares", share=STARVED, judged=JUDGED, most=MOST_SHORT)]


def look_budgets() -> list[BudgetLook]:
    """Look which budgets are low or used up: at most MOST_SHORT, those of which most is used first."""
    return objects(BudgetLook, "health_budgets", low=LOW, most=MOST_SHORT)
