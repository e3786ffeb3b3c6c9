"""`current_job()`: a running method reads and reports about its own job.

What asks the database holds up an event loop meanwhile; its twin for coroutines, with an `a` before its name, does not.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import transaction

from jobs.authoring.checkpoints import Checkpoints
from jobs.authoring.events import ToldEvent
from jobs.authoring.exceptions import Cancelled, HandedBack, ResultGone
from jobs.authoring.in_thread import in_thread
from jobs.authoring.memory import MISSING, Memory
from jobs.authoring.units import Units
from plumbing.text import storable
from tenants.models import Tenant

LOOK_AGAIN = 0.5  # seconds


@dataclass
class EndOfJob:
    """The values that a body gives at the end of its job.

    result: a JSON value, kept as a return value is.
    stats: JSON values, added to those of the job.
    """

    result: Any = None
    stats: dict[str, Any] = field(default_factory=dict)


@contextmanager
def _in_a_transaction(end: EndOfJob) -> Iterator[EndOfJob]:
    """Open the block of `ending()` outside a job, where it is a transaction and ends nothing."""
    with transaction.atomic():
        yield end


@dataclass
class CurrentJob:
    """The running job. Outside a job `id` is None, and all reports are discarded.

    stats: JSON values shown to the tenant with the job.
    units: what this attempt has used; `used` adds to it.
    timeout: seconds this attempt may run.
    event: the event that the job has waited for last (WaitFor): name, payload, told_at. None: it has waited for none.
    memory: the values that the job type keeps from run to run, for its tenant.
    object_memory: the values that the job type keeps from run to run, for the job's object alone.
    """

    id: int | None = None
    attempt: int = 0
    tenant: Tenant | None = None
    timeout: float | None = None
    event: ToldEvent | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    units: Units = field(default_factory=Units)
    memory: Memory = field(default_factory=Memory)
    object_memory: Memory = field(default_factory=Memory)
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    # Defaults for code outside a job: progress is discarded, no stop is requested, no batch, no predecessors.
    report_progress: Callable[[float, str], object] = lambda fraction, note: None
    note_told: Callable[[], object] = lambda: None  # the body has told how far it is, so its silence begins anew
    ask_cancelled: Callable[[], bool] = lambda: False
    find_batch: Callable[[], Any] = lambda: None
    find_results: Callable[[], dict[int, Any]] = dict
    end_in_block: Callable[[EndOfJob], AbstractContextManager[EndOfJob]] = _in_a_transaction
    _asked_at: float = -math.inf
    _cancelled: bool = False

    def progress(self, fraction: float, note: str = "") -> None:
        """Report progress: a fraction from 0 to 1 (clamped; nan is ignored), and a note of at most 200 characters."""
        if not math.isnan(fraction):
            self.note_told()
            self.report_progress(min(max(float(fraction), 0.0), 1.0), storable(note[:200]))

    def used(self, **amounts: int) -> None:
        """Add what this attempt has used, such as used(tokens=1840, pages=3): at most 8 names, for bills and budgets.

        It counts whatever becomes of the attempt. It is stored with the next `progress` or `checkpoint`, or with
        the end of the attempt: only a process that is killed before loses it. It asks no database, so coroutines call
        it, too.

        Raises ValueError for a wrong name, for too many names, and for an amount that is not a whole number from 0.
        """
        self.units.add(amounts)

    async def aprogress(self, fraction: float, note: str = "") -> None:
        """Report progress, as `progress`, from a coroutine."""
        self.note_told()  # at once: the report may have to wait for a thread
        await in_thread(self.progress, fraction, note)

    async def atenant(self) -> Tenant | None:
        """Return the tenant, loaded, to a coroutine; None outside a job."""
        return await in_thread(self._load_tenant)

    def _load_tenant(self) -> Tenant | None:
        _ = self.tenant and self.tenant.pk  # it is lazy
        return self.tenant

    def ending(self, *, result: Any = None, stats: Mapping[str, Any] | None = None) -> AbstractContextManager[EndOfJob]:
        """Open the last block of a body. What it writes in `default` and the job's success commit together.

        `with run.ending() as end:` lets the block set `end.result`, and add to `end.stats`. After the block the body
        must return: what it does then changes nothing, and is logged. Outside a job the block is a transaction.

        result: a JSON value. The body may return the same value, for those who call it outside a job.
        stats: JSON values, added to `stats`.
        Raises RuntimeError in an event loop, in another transaction, and after an end; the text names the remedy.
        The end of the block raises StaleAttempt if the attempt does not run any more, and then nothing of it is kept.
        """
        return self.end_in_block(EndOfJob(result, dict(stats or {})))

    @contextmanager
    def here(self) -> Iterator[None]:
        """Note, inside the block, that the body of this job runs in this process."""
        _bodies.add(id(self))
        try:
            yield
        finally:
            _bodies.discard(id(self))

    @cached_property
    def batch(self) -> Any:
        """The batch of this job, for example to add jobs to it; None if the job has no batch."""
        return self.find_batch()

    async def abatch(self) -> Any:
        """Return the batch of this job, as `batch`, to a coroutine. Its own methods are for `in_thread`."""
        return await in_thread(lambda: self.batch)

    def results(self, **default: Any) -> dict[int, Any]:
        """Return the results of the jobs that this job waited for, by id, in the order of their submission.

        The jobs of batches that it waited for are among them.

        gone: the value for a result that is gone: the job did not succeed, or the cache has lost its result.

        Raises ResultGone if a result is gone and `gone` is not given.
        """
        results = self.find_results()
        lost = [job_id for job_id, value in results.items() if value is MISSING]
        if lost and "gone" not in default:
            raise ResultGone(lost)
        return {job_id: default["gone"] if value is MISSING else value for job_id, value in results.items()}

    async def aresults(self, **default: Any) -> dict[int, Any]:
        """Return the results of the jobs that this job waited for, as `results`, to a coroutine."""
        return await in_thread(self.results, **default)

    @property
    def cursor(self) -> Any:
        """The cursor of the last checkpoint, of this attempt or of one before; None: there was none."""
        return self.checkpoints.cursor

    def checkpoint(self, cursor: Any) -> None:
        """Note how far the work is, at a point from which another attempt can go on.

        cursor: JSON of at most 16 KiB. It is stored at most once a second, and whenever the job ends without success.

        Raises HandedBack where the job is to give its slot back, and Cancelled if it was asked to stop. Raises
        TypeError for a cursor that is not JSON, ValueError for one that is too large, RuntimeError inside `atomic()`.
        """
        self.note_told()
        if self.checkpoints.note(cursor) and not self.checkpoints.store():
            self.check_cancelled()
        self._hand_back()

    async def acheckpoint(self, cursor: Any) -> None:
        """Note how far the work is, as `checkpoint`, from a coroutine."""
        self.note_told()
        if self.checkpoints.note(cursor) and not await in_thread(self.checkpoints.store):
            await self.acheck_cancelled()
        self._hand_back()

    def _hand_back(self) -> None:
        if why := self.checkpoints.why_back():
            raise HandedBack(why)

    @property
    def cancel_requested(self) -> bool:
        """Return whether this job was asked to stop. Reads the database at most every LOOK_AGAIN seconds."""
        now = time.monotonic()
        if not self._cancelled and now - self._asked_at >= LOOK_AGAIN:
            self._asked_at = now
            self._cancelled = self.ask_cancelled()
        return self._cancelled

    async def acancel_requested(self) -> bool:
        """Return whether this job was asked to stop, as `cancel_requested`, to a coroutine."""
        return await in_thread(lambda: self.cancel_requested)

    def check_cancelled(self) -> None:
        """Stop here if the job was asked to stop: raises Cancelled."""
        if self.cancel_requested:
            raise Cancelled("stopped on request")

    async def acheck_cancelled(self) -> None:
        """Stop a coroutine here if the job was asked to stop: raises Cancelled."""
        await in_thread(self.check_cancelled)


_bodies: set[int] = set()  # id() of each CurrentJob whose body runs in this process
_current: ContextVar[CurrentJob | None] = ContextVar("current_job", default=None)


def current_job() -> CurrentJob:
    """Return the running job; outside a job a stand-in, so that a method works in both cases.

    Raises RuntimeError in a thread that does not know its job, while a body runs: its reports would be lost.
    """
    current = _current.get()
    if current is None and _bodies:
        raise RuntimeError(
            "current_job() is not known in this thread. Take run = current_job() in the body and use it here, or start "
            "what runs here by contextvars.copy_context().run"
        )
    return current or CurrentJob()


def caller() -> CurrentJob:
    """Return the job that submits, or the stand-in. Never raises: a body may submit from any thread."""
    return _current.get() or CurrentJob()


enter = _current.set
