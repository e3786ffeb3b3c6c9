"""The predicted start of a waiting job, as pages and documents show it. What predicts it: `predictor.py`."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Reason(StrEnum):
    """The reasons why a forecast is missing or incomplete. The values are stable: programs may compare them."""

    TENANT_PAUSED = "tenant_paused"
    NO_SLOTS = "no_slots"
    QUEUE_PAUSED = "queue_paused"
    HELD = "held"  # the job type is paused
    BUDGET = "budget"  # a budget of its tenant is used up: not this month
    BLOCKED = "blocked"  # it waits for other jobs, its turn or an event: it is not in line yet
    NO_WORKER = "no_worker"
    NO_HISTORY = "no_history"  # no attempt has ended yet
    URGENT_AHEAD = "urgent_ahead"  # more urgent jobs may come for ever
    FAR = "far"  # beyond six hours, or behind more jobs than are read
    LEARNING = "learning"  # too few predictions of this class have an outcome: p50 alone
    UNSURE = "unsure"  # predictions of this class have not held lately: "not before"
    LATE = "late"  # the forecast is too old, or its p50 has passed
    OFF = "off"  # predictions do not hold in general: p50 alone


WORDS = {  # for reasons that a page does not show in another way
    Reason.URGENT_AHEAD: "more urgent jobs may come before it",
    Reason.FAR: "it is far behind in line",
    Reason.BUDGET: "not this month: a budget is used up",
    Reason.BLOCKED: "it waits for other jobs, or for an event",
    Reason.NO_HISTORY: "no job has ended yet",
    Reason.UNSURE: "such predictions were not reliable lately",
}
SHOWN = {  # for those that the page of a job shows as what it waits for
    Reason.TENANT_PAUSED: "the tenant is paused",
    Reason.NO_SLOTS: "the tenant has no slots",
    Reason.QUEUE_PAUSED: "the queue is paused",
    Reason.HELD: "the job type is paused",
    Reason.NO_WORKER: "no worker is live",
    Reason.LATE: "no recent forecast",
}


@dataclass(frozen=True)
class Starts:
    """The predicted start of a job.

    p50: it starts about then.
    p90: it starts by then with 90 %. None beside p50: `reason` says why.
    not_before: it hardly starts before then; only without p50.
    reason: why p50 or p90 is missing.
    made_at: when the forecast was made. None: no forecast has this job.
    """

    p50: datetime | None = None
    p90: datetime | None = None
    not_before: datetime | None = None
    reason: Reason | None = None
    made_at: datetime | None = None

    @property
    def in_words(self) -> str:
        """Return why p50 is missing, for people; empty if a page shows that in another way."""
        return "" if self.reason is None else WORDS.get(self.reason, "")

    @property
    def why(self) -> str:
        """Return why p50 is missing, for people; empty if this is not known."""
        return "" if self.reason is None else {**WORDS, **SHOWN}.get(self.reason, "")


@dataclass(frozen=True)
class LaneStarts:
    """The predicted starts of the last job in line, and of a new one with the default priority and without a user."""

    last: Starts
    newcomer: Starts
