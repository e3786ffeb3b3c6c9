"""What health and metrics look at beside queues and lanes: a few short statements, none of which reads ended jobs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, Sum

from jobs.conf import settings
from jobs.models import JobMinute, Sample
from jobs.reading.shares import JUDGED, STARVED, percent
from jobs.reading.statistics import Ended
from jobs.reading.webhooks import MOST_COUNTED
from jobs.store.rows import objects, rows

LATE = timedelta(minutes=5)  # a count is final when its time has been over for so long
COUNTS_OF_A_MINUTE = {"minutes": timedelta(seconds=15), "late minutes": LATE}  # how long after its end
MOST_DEAD = 10_000  # counted
FAILING_LONG = 3600.0  # seconds of an endpoint
MOST_SHORT = 20  # tenants that got too little of their share
# Of p90, in the last hour: outside, predictions are off. No full hour is waited for: the first of a bad day is worst.
MIN_OUTCOMES, LEAST_HELD, MOST_HELD = 200, 0.8, 0.97
TIMEOUT = 2.0  # seconds for one statement of a look


@dataclass(frozen=True)
class ServerLook:
    """now: the database's clock. recorder_age, oldest_transaction: seconds. untaken: messages that nobody took up in
    time. dead: letters. kept_for: the replication slot that keeps most of the log (WAL), in bytes; "": none keeps any.
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
class EndedLook:
    """Attempts that ended, of these those that failed, and those whose job died."""

    attempts: int
    failed: int
    died: int


@dataclass(frozen=True)
class PredictionsLook:
    """What was said of the starts of jobs in the last day: how many statements, of how many the outcome is known, and
    how many held. lately: of the last hour. unsaid: of which nothing could be said. loss, and the baselines ahead and
    past: seconds, of those that have started.
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
        """Whether what is said to hold for nine of ten has held for clearly fewer, or more, of the last hour's."""
        if self.known_lately < MIN_OUTCOMES:
            return False
        return not LEAST_HELD <= self.held_lately / self.known_lately <= MOST_HELD

    @property
    def in_words(self) -> str:
        """Coverage, loss and baselines of the last day, in a sentence; empty if no outcome is known."""
        if not self.known_90 or not self.known_50:
            return ""
        held = f"50 → {percent(self.held_50, self.known_50)}, 90 → {percent(self.held_90, self.known_90)}"
        loss = f"loss {_seconds(self.loss_50, self.loss_90)} (jobs ahead {_seconds(self.ahead_50, self.ahead_90)}, "
        loss += f"last waits {_seconds(self.past_50, self.past_90)})"
        unsaid = percent(self.unsaid, self.predictions)
        return f"Predictions 24 h ({self.predictions:,}): {held}, {loss}, {unsaid} unsaid"

    @property
    def how_often(self) -> str:
        """The coverage, for who reads one such statement; empty if no outcome is known."""
        if not self.known_90 or not self.known_50:
            return ""
        first, second = percent(self.held_50, self.known_50), percent(self.held_90, self.known_90)
        return f"Of {self.known_90:,} such statements in 24 h {first} held by the first moment, {second} by the second."


def _seconds(*losses: float | None) -> str:
    return " and ".join("–" if loss is None else f"{loss:.1f}" for loss in losses) + " s"


@dataclass(frozen=True)
class WebhooksLook:
    """Endpoints that work, fail, have failed for long, and are off; the messages that wait for those that are on, and
    the seconds since the job of the oldest one ended.
    """

    working: int
    failing: int
    failing_long: int
    off: int
    waiting: int
    oldest: float


@dataclass(frozen=True)
class ForecastLook:
    """reasons: the predictions since the first, by why less than two moments was said; "": both. ages: seconds, by
    pool with jobs in line. seconds: that the last forecast took; None: it is not known.
    """

    reasons: dict[str, int]
    ages: dict[str, float]
    seconds: float | None


@dataclass(frozen=True)
class TotalLook(Ended):
    """Since the first attempt: see `jobs.models.Total`."""

    wait_seconds: float


def look_server(tasks: Sequence[str]) -> ServerLook:
    """The clock, the recorder by these tasks, and PostgreSQL itself."""
    patience = 3 * settings.JOBS_HAND_OVER_TIMEOUT  # by then its message was sent again, twice
    return objects(ServerLook, "health_server", tasks=list(tasks), patience=patience, most=MOST_DEAD)[0]


def look_ended(minutes: int, now: datetime) -> EndedLook:
    """The attempts that ended in the last minutes that the recorder has counted."""
    ended = JobMinute.objects.filter(minute__gt=now - timedelta(minutes=minutes))
    failed, died = Q(outcome__in=("error", "dead", "retry", "crash")), Q(outcome="dead")
    sums = {"all": Q(), "failed": failed, "died": died}
    found = ended.aggregate(**{name: Sum("attempts", filter=of, default=0) for name, of in sums.items()})
    return EndedLook(found["all"], found["failed"], found["died"])


def look_totals() -> list[TotalLook]:
    return objects(TotalLook, "health_totals")


def look_sample() -> Sample:
    """The states and the fairness of the recorder's newest sample; without both if there is none."""
    return Sample.objects.only("states", "fairness").order_by("-at").first() or Sample()


def look_predictions() -> PredictionsLook:
    """How often what was said of starts held."""
    return objects(PredictionsLook, "health_predictions")[0]


def look_webhooks() -> WebhooksLook:
    return objects(WebhooksLook, "health_webhooks", long=FAILING_LONG, most=MOST_COUNTED)[0]


def look_forecasts() -> ForecastLook:
    """How much was said of starts, and what it cost."""
    ((reasons, ages, seconds),) = rows("health_forecasts")
    return ForecastLook(json.loads(reasons), json.loads(ages), seconds)


def look_short_of_share() -> list[int]:
    """The tenants that got too little of their shares (`is_short`), at most MOST_SHORT, who lack most first."""
    return [tenant_id for (tenant_id,) in rows("health_shares", share=STARVED, judged=JUDGED, most=MOST_SHORT)]
