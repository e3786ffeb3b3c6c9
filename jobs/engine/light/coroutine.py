"""Run the body of one attempt on the event loop of a light process, and record its outcome."""

import asyncio
import decimal
import math
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakSet

from asgiref.sync import ThreadSensitiveContext
from django.core.exceptions import SynchronousOnlyOperation
from django.db.models import Model

from jobs.authoring.current import CurrentJob
from jobs.authoring.exceptions import Cancelled
from jobs.authoring.in_thread import in_thread
from jobs.calls.arguments import stats_as_json
from jobs.calls.registry import Target
from jobs.calls.together import Call, makers_of
from jobs.conf import settings
from jobs.engine.attempt import body
from jobs.engine.attempt.body import StillAway
from jobs.engine.attempt.captured_output import listening_here
from jobs.engine.attempt.coroutines import awaited
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.light.database import Lane
from jobs.engine.light.host import LightSeat
from jobs.engine.light.threads import BodyThreads, ThreadedBody
from jobs.engine.process.user_code import end_copy_of, silent_text, to_the_end
from jobs.store import Started, speak_as_the_caller

LIMIT, CANCEL = "limit", "cancel"  # why the engine cancels a body; for its silence: the text of its error


class NotACoroutine(Exception):
    """A body without `async` cannot run on the event loop, and this process has no threads for it."""


@dataclass(eq=False)
class Attempt:
    """One attempt in its seat.

    context: the context variables of the attempt: no other attempt sees them.
    due: when to look whether its time is up, by time.monotonic(); None: its body has not begun, or is over.
    ends_at: when its time limit is over.
    silence: seconds for which its body may tell nothing; infinite if there is no limit.
    ends: why the engine has cancelled it: LIMIT, CANCEL or the text of its error; "": it has not.
    last: when it must have ended after that, by time.monotonic().
    body: its body without `async`, while that runs in a thread.
    tasks: what the body has started by `asyncio.create_task`.
    generators: the asynchronous generators that it has begun; None: it has begun none.
    closing: the tasks that close them.
    calls: what it has started by `asyncio.to_thread`.
    is_over: whether the outcome says how the body has ended.
    """

    job: Started
    host: LightSeat
    lane: Lane
    outcome: Outcome = field(default_factory=Outcome)
    context: Context = field(default_factory=copy_context)
    due: float | None = None
    ends_at: float = math.inf
    silence: float = math.inf
    ends: str = ""
    last: float = math.inf
    task: asyncio.Task[None] | None = None
    body: ThreadedBody | None = None
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    generators: WeakSet[Any] | None = None
    closing: set[asyncio.Task[Any]] = field(default_factory=set)
    calls: set[Future[Any]] = field(default_factory=set)
    found: tuple[CurrentJob, Target, Model | None] | None = None
    is_over: bool = False

    @property
    def key(self) -> tuple[int, int]:
        return self.job.id, self.job.attempt

    def has_rest(self) -> bool:
        """Return whether anything that the body has started still runs."""
        return bool(self.tasks or self.generators or self.closing or self.calls) or not self.lane.is_idle()

    def start_clock(self) -> None:
        """Let its limits count from now on."""
        self.host.hear()
        self.ends_at = self.host.heard + self.job.timeout
        silence = None if self.found is None else self.found[1].spec.silence
        self.silence = math.inf if silence is None else silence
        self.due = self._due()

    def end_if_late(self, now: float, grace: float) -> None:
        """Cancel the body if it is over a limit. Otherwise, since it has told something, look again later."""
        self.due = self._due()
        if now >= self.ends_at:
            self.cancel(LIMIT, grace)
        elif now >= self.due:
            self.cancel(silent_text(self.silence), grace)

    def _due(self) -> float:
        return min(self.ends_at, self.host.heard + self.silence)

    def cancel(self, why: str, grace: float) -> None:
        """Cancel the body, for the first reason that there is. It must have ended after `grace` seconds."""
        if self.due is not None and self.task is not None and not self.ends:
            self.ends, self.last = why, time.monotonic() + grace
            self.host.is_cancelled = why == CANCEL
            if self.body is None:
                self.context.run(self.task.cancel)
            else:  # the task waits for the thread, which may go on
                error = Cancelled if why == CANCEL else self.host.process.time_is_up
                self.body.stop(error, self.lane.threads.interrupters)

    def silent_beyond(self, grace: float) -> str:
        """Return the text of its error if it has been silent so much longer than it may; "" if not."""
        late = self.due is not None and time.monotonic() > self.host.heard + self.silence + grace
        return silent_text(self.silence) if late else ""

    def let_go(self) -> None:
        """Let go of what leads back to the attempt. Else it would be kept, with its result, until it is collected."""
        self.context, self.task = Context(), None


def find(attempts: Sequence[Attempt]) -> None:
    """Find the code and the object of each attempt, in a database thread. An error is the outcome of its attempt."""
    known = _Known(attempts)
    for attempt in attempts:
        try:
            attempt.found = attempt.context.run(_find, attempt, known)
        except BaseException as error:
            attempt.outcome.error = error


class _Known:
    """The code of each job type and the objects of attempts that begin together."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._targets: dict[tuple[str, str], Target] = {}
        calls: dict[tuple[int, int], Call] = {}
        for attempt in attempts:
            with suppress(Exception):  # `target` raises it again, where it is the outcome of the attempt
                calls[attempt.key] = self.target(attempt.job), attempt.job.source_id, attempt.job.tenant_id
        # The project may have a context for each look.
        makers = {} if settings.JOBS_AROUND else makers_of([*calls.values()])
        keys = [*calls]
        self.makers = {keys[place]: make for place, make in makers.items()}

    def target(self, job: Started) -> Target:
        """Return the code of a job. Raises UnknownJobType."""
        name = job.source_type, job.source_method
        if name not in self._targets:
            self._targets[name] = body.target_of(job)
        return self._targets[name]


def _find(attempt: Attempt, known: _Known) -> tuple[CurrentJob, Target, Model | None]:
    speak_as_the_caller()
    decimal.setcontext(decimal.getcontext().copy())  # else it would be changed in place
    target, make = known.target(attempt.job), known.makers.get(attempt.key)
    running, target, instance = body.find(attempt.job, target, attempt.outcome, attempt.host, make)
    if not target.is_async and attempt.host.process.bodies is None:
        raise NotACoroutine(
            f"{target} is not `async def`, and this worker began without threads: make it so, or give its queue an "
            "ordinary pool, or its pool threads, and restart its workers"
        )
    attempt.lane.around = partial(body.around, running)
    return running, target, instance


async def run(attempt: Attempt, end_rest: Callable[[Attempt], Awaitable[None]]) -> None:
    """Run the body, and record how it ends. Every exception is an outcome, even SystemExit.

    end_rest: ends what the body has left behind.
    """
    outcome = attempt.outcome
    if attempt.found is None:
        outcome.error = outcome.error or StillAway("it was not found")
        attempt.is_over = True
        return
    process = os.getpid()
    async with ThreadSensitiveContext(executor=attempt.lane):  # the rest may ask the database in its end, too
        try:
            await _call(attempt, *attempt.found)
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # ends generators
            outcome.error = error
        end_copy_of(process, outcome.error)
        attempt.due, attempt.last = None, math.inf
        if attempt.has_rest():
            await end_rest(attempt)
    if attempt.ends == CANCEL:
        if isinstance(outcome.error, asyncio.CancelledError):
            outcome.error = Cancelled("stopped on request")
    elif attempt.ends:  # a later answer does not count
        timed_out = f"timed out after {attempt.job.timeout:.15g} s"
        late = TimeoutError(timed_out if attempt.ends == LIMIT else attempt.ends)
        late.__cause__ = outcome.error  # its traceback says where the body waited
        outcome.error = late
    if outcome.error is not None:  # stats that are not JSON must not hide the error
        try:
            outcome.stats = stats_as_json(outcome.stats)
        except Exception:
            outcome.stats = {}
    outcome.leave_out_the_rest(attempt.job)
    attempt.is_over = True


async def _call(attempt: Attempt, running: CurrentJob, target: Target, instance: Model | None) -> None:
    job, outcome = attempt.job, attempt.outcome
    body.take_options(job, outcome, running, target)
    listened = listening_here() if target.spec.log else nullcontext()
    with running.here(), listened as outcome.log:
        threads = attempt.host.process.bodies
        if threads is not None and not target.is_async:
            await _in_its_thread(attempt, threads, partial(_call_plain, attempt, running, target, instance))
            return
        value = await awaited(target.on(instance)(**job.args))
    try:
        outcome.write_down(value)
    except SynchronousOnlyOperation:  # lazy values, which ask the database
        await in_thread(outcome.write_down, value)


async def _in_its_thread(attempt: Attempt, threads: BodyThreads, call: Callable[[], None]) -> None:
    """Run a body without `async` in a thread. Its context is a copy: no two threads can be in one context."""
    attempt.body = ThreadedBody(partial(copy_context().run, to_the_end, call))
    threads.run(attempt.body)
    answer = await asyncio.wrap_future(attempt.body.answer)
    attempt.outcome.error, attempt.body = answer.error, None


def _call_plain(attempt: Attempt, running: CurrentJob, target: Target, instance: Model | None) -> None:
    with body.around(running):
        attempt.outcome.write_down(target.on(instance)(**attempt.job.args))  # here: lazy values may ask the database
