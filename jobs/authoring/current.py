"""`current_job()`: a running method reads and reports about its own job."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jobs.authoring.exceptions import Cancelled, ResultGone
from jobs.authoring.memory import MISSING, Memory
from jobs.authoring.text import storable
from tenants.models import Tenant

LOOK_AGAIN = 0.5  # seconds


@dataclass
class CurrentJob:
    """The running job. Outside a job `id` is None, and all reports are discarded.

    stats: JSON values shown to the customer with the job. timeout: seconds this attempt may run.
    memory: what the job type keeps from run to run, for its tenant. object_memory: the same for its object alone.
    """

    id: int | None = None
    attempt: int = 0
    tenant: Tenant | None = None
    timeout: float | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    object_memory: Memory = field(default_factory=Memory)
    # Outside a job nobody hears of progress or asks it to stop, and it has no batch and no predecessors.
    report_progress: Callable[[float, str], object] = lambda fraction, note: None
    ask_cancelled: Callable[[], bool] = lambda: False
    find_batch: Callable[[], Any] = lambda: None
    find_results: Callable[[], dict[int, Any]] = dict
    _asked_at: float = -math.inf
    _cancelled: bool = False

    def progress(self, fraction: float, note: str = "") -> None:
        """Report progress: a fraction from 0 to 1 (clamped; nan is ignored), and a note of at most 200 characters."""
        if not math.isnan(fraction):
            self.report_progress(min(max(float(fraction), 0.0), 1.0), storable(note[:200]))

    @contextmanager
    def here(self) -> Iterator[None]:
        """The body of this job runs in this process inside the block."""
        _bodies.add(id(self))
        try:
            yield
        finally:
            _bodies.discard(id(self))

    @cached_property
    def batch(self) -> Any:
        """The batch that this job belongs to, to add to it; None if it belongs to none."""
        return self.find_batch()

    def results(self, **default: Any) -> dict[int, Any]:
        """The results of the jobs that this one waited for, also in batches, by id in the order of their submission.

        gone: stands for a result that is gone: of a job that ended otherwise, or that the cache has lost. Without it
        such a result raises ResultGone.
        """
        found = self.find_results()
        lost = [job_id for job_id, value in found.items() if value is MISSING]
        if lost and "gone" not in default:
            raise ResultGone(lost)
        return {job_id: default["gone"] if value is MISSING else value for job_id, value in found.items()}

    @property
    def cancel_requested(self) -> bool:
        """Whether this job was asked to stop. Reads the database at most every LOOK_AGAIN seconds."""
        now = time.monotonic()
        if not self._cancelled and now - self._asked_at >= LOOK_AGAIN:
            self._asked_at = now
            self._cancelled = self.ask_cancelled()
        return self._cancelled

    def check_cancelled(self) -> None:
        """Stop here if the job was asked to stop: raises Cancelled."""
        if self.cancel_requested:
            raise Cancelled("stopped on request")


_bodies: set[int] = set()  # ids of those that run in this process
_current: ContextVar[CurrentJob | None] = ContextVar("current_job", default=None)


def current_job() -> CurrentJob:
    """The running job; outside a job a stand-in, so that a method works in both cases.

    Raises RuntimeError in a thread that does not know whose it is: what it reports would be lost.
    """
    found = _current.get()
    if found is None and _bodies:
        raise RuntimeError(
            "current_job() is not known in this thread. Take run = current_job() in the body and use it here, or start "
            "what runs here by contextvars.copy_context().run"
        )
    return found or CurrentJob()


def caller() -> CurrentJob:
    """The job that submits, or the stand-in: it may submit from any thread."""
    return _current.get() or CurrentJob()


enter = _current.set
