"""The record of a window. Moments are seconds from its beginning; the time before it warms the replay up."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.insight.forecasting.runs import TimedAttempt

TENANT, QUEUE, POOL = "tenant", "queue", "pool"
WARM = 300.0  # seconds: the replay begins so long before the window, and jobs arrive until so long after it
LATEST = 6 * 3600.0  # seconds after the window: a job that has not started by then counts as not started


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAttempt(TimedAttempt):
    """An attempt; or a job without one, that still waits or left the line.

    place: its order in the lane (job_place)
    user: "" if it has none
    good: whether it succeeded
    left_at: the moment at which it left the line without an attempt; None: it did not
    """

    job_id: int
    place: int
    user: str
    ready_at: float
    good: bool
    left_at: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """The new limits of a tenant, a queue or a pool, from a moment on.

    kind: TENANT, QUEUE or POOL
    subject: the id of the tenant or queue, or the name of the pool
    limits: by the names of the fields of jobs.allocation.state; None: it is gone. Those of a pool: `processes`, which
      take jobs; `leaving`, jobs in others; and `seats` of each process of a light pool, None of an ordinary one
    """

    at: float
    kind: str
    subject: int | str
    limits: Mapping[str, Any] | None


@dataclass(frozen=True)
class Record:
    """The record of a window.

    length: the seconds of the window
    past: the attempts, in any order
    changes: in order, beginning with the last ones before the warm-up
    after: the ids of the jobs that a job waited for, by its id
    """

    length: float
    past: Sequence[PastAttempt]
    changes: Sequence[Change]
    after: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def light_queues(self) -> Collection[int]:
        """Return the ids of the queues that were in a light pool at any time."""
        known = [(change, change.limits) for change in self.changes if change.limits is not None]
        pools = {change.subject for change, limits in known if change.kind == POOL and limits.get("seats")}
        return {int(change.subject) for change, limits in known if change.kind == QUEUE and limits.get("pool") in pools}


Limits = Mapping[str, Any]
Hypothesis = Mapping[tuple[str, int | str], Limits]  # by kind and subject: the other limits, from the window's start on
