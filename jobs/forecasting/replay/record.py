"""What was recorded of a window. Moments are seconds from its beginning; what is before it warms the replay up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.forecasting.runs import Attempt

TENANT, QUEUE, POOL = "tenant", "queue", "pool"
WARM = 300.0  # seconds before the window, from which on it is replayed; and after it, in which others still arrive
LATEST = 6 * 3600.0  # seconds after the window: who has not started by then has not started


@dataclass(frozen=True, slots=True, kw_only=True)
class Past(Attempt):
    """An attempt; or, if it did not start, a job that waits, or left the line at left_at. good: it ended well."""

    job_id: int
    place: int
    user: str
    ready_at: float
    good: bool
    left_at: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """From this moment on a tenant (by id), a queue (by id) or a pool (by name) has these limits; None: it is gone.

    limits: by the names of the fields of jobs.allocation.state.
    """

    at: float
    kind: str
    subject: int | str
    limits: Mapping[str, Any] | None


@dataclass(frozen=True)
class Record:
    """length: seconds of the window. past: in any order. changes: in order, from the last ones before the warm-up on.

    after: of jobs that waited for others, those others.
    """

    length: float
    past: Sequence[Past]
    changes: Sequence[Change]
    after: Mapping[int, Sequence[int]] = field(default_factory=dict)


Limits = Mapping[str, Any]
Hypothesis = Mapping[tuple[str, int | str], Limits]  # by kind and subject: what would be, from the window's begin on
