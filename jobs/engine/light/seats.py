"""The seats of a light process: the attempts on its event loop. All methods run in the thread of the loop.

The loop runs for the life of the process. Every TICK seconds it notes that it goes round, and cancels the attempts
whose time is up. Nothing here waits: what asks the database, the cache or code of the project's own does so in threads.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

from django.db import Error

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.attempt.body import StillAway
from jobs.engine.attempt.execute import attempt_context
from jobs.engine.attempt.settle import settle
from jobs.engine.light import coroutine
from jobs.engine.light.coroutine import CANCEL, LIMIT, Attempt
from jobs.engine.light.database import DatabaseThreads, Lane
from jobs.engine.light.host import LightProcess, LightSeat
from jobs.engine.process.interrupt import CANCEL_PATIENCE
from jobs.engine.process.patience import DATABASE_PATIENCE
from jobs.engine.process.user_code import in_a_thread
from jobs.store import Started
from jobs.telemetry import traces

TICK = 0.05  # seconds
LOOK_AGAIN = 0.01  # seconds
SETTLERS = 4  # threads that keep results, and settle what did not succeed
DATABASE_PAUSE = 1.0  # seconds between two tries to settle while the database is away

_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


class Seats:
    """The seats of this process.

    tick: called each TICK seconds.
    ended: gets the attempts that have ended: a success is still to be settled, all others are.
    stuck: called with an attempt that did not end although it was cancelled; with None for what an attempt has left.
    """

    def __init__(
        self,
        process: LightProcess,
        database: DatabaseThreads,
        *,
        tick: Callable[[], object],
        ended: Callable[[Attempt], object],
        stuck: Callable[[Attempt | None], object],
    ) -> None:
        self._process, self._database = process, database
        self._tick, self._ended, self._stuck = tick, ended, stuck
        self._attempts: dict[tuple[int, int], Attempt] = {}
        self._settlers = ThreadPoolExecutor(SETTLERS, thread_name_prefix="settler")
        self._loop = asyncio.get_running_loop()
        self._loop.set_task_factory(_note_tasks)  # type: ignore[arg-type]
        self._go_round()

    def begin(self, jobs: Sequence[Started]) -> None:
        """Begin these attempts, which have started by their rows."""
        attempts, now = [self._seat(job) for job in jobs], time.monotonic()
        for attempt in attempts:  # the look-up of its object may take no longer than in an ordinary process
            attempt.last = now + attempt.job.timeout + DATABASE_PATIENCE
        self._attempts |= {attempt.key: attempt for attempt in attempts}
        found = self._loop.run_in_executor(self._database, coroutine.find, attempts)
        found.add_done_callback(lambda _: self._run_all(attempts))

    def cancel(self, keys: Sequence[tuple[int, int]]) -> None:
        """Cancel these attempts, which were asked to stop."""
        for key in keys:
            if attempt := self._attempts.get(key):
                attempt.cancel(CANCEL, settings.JOBS_CANCEL_GRACE)

    def now_running(self) -> Attempt | None:
        """Return the attempt whose coroutine is on the loop at this moment. For another thread, which sees it block."""
        task = asyncio.current_task(self._loop)
        attempts = list(self._attempts.values())
        return next((attempt for attempt in attempts if task is attempt.task or task in attempt.tasks), None)

    def _seat(self, job: Started) -> Attempt:
        seat = LightSeat(self._process)
        attempt = Attempt(job, seat, Lane(self._database))
        seat.is_cancelled = lambda: attempt.ends == CANCEL
        return attempt

    def _run_all(self, attempts: Sequence[Attempt]) -> None:
        now = time.monotonic()
        for attempt in attempts:
            attempt.due, attempt.last = now + attempt.job.timeout, math.inf
            attempt.context.run(_attempt.set, attempt)
            attempt.task = self._loop.create_task(self._run(attempt), context=attempt.context)

    async def _run(self, attempt: Attempt) -> None:
        try:
            with attempt_context(attempt.job) as span:
                await coroutine.run(attempt)
                if attempt.outcome.error is not None:
                    traces.failed(span, attempt.outcome.error)
        finally:
            attempt.due, attempt.last = None, math.inf
        attempt.tasks.discard(attempt.task)
        if attempt.tasks or not attempt.lane.is_idle():
            await self._end_rest(attempt)
        if attempt.outcome.error is None and attempt.outcome.text is None and attempt.outcome.log is None:
            attempt.outcome.keep_result(attempt.job)  # None, which costs no trip to the cache
        elif isinstance(attempt.outcome.error, StillAway):
            pass  # its body has not begun: the parent takes it back
        else:
            await self._loop.run_in_executor(self._settlers, self._process.in_own_session, self._finish, attempt)
        del self._attempts[attempt.key]
        self._ended(attempt)

    async def _end_rest(self, attempt: Attempt) -> None:
        """Cancel the tasks and the database calls that the body has left behind. If they stay, the process drains."""
        left = [task for task in attempt.tasks if not task.done()]
        for task in left:
            telemetry.noticed("task left behind, cancelled", job=attempt.job.id, task=task.get_name())
            task.cancel()
        attempt.lane.end()
        give_up = time.monotonic() + CANCEL_PATIENCE
        while not (all(task.done() for task in left) and attempt.lane.is_idle()):
            if time.monotonic() > give_up:
                telemetry.noticed("process drains: what a body has started still runs", job=attempt.job.id)
                self._stuck(None)
                return
            await asyncio.sleep(LOOK_AGAIN)

    def _finish(self, attempt: Attempt) -> None:
        """Keep the result, or settle what is no success; in a thread, since both may wait."""
        job, outcome = attempt.job, attempt.outcome
        outcome.keep_result(job)
        outcome.keep_log(job)
        while outcome.error is not None:
            try:
                with telemetry.about(job=job.id, attempt=job.attempt, tenant=job.tenant_id):
                    settle(job, outcome, in_a_thread)
                return
            except Error as error:
                telemetry.noticed("outcome waits for the database", job=job.id, error=type(error).__name__)
                time.sleep(DATABASE_PAUSE)

    def _go_round(self) -> None:
        """Note that the loop goes round; cancel what is due; tell of what has not ended after its grace."""
        self._tick()
        now = time.monotonic()
        for attempt in list(self._attempts.values()):
            if attempt.due is not None and now >= attempt.due:
                attempt.cancel(LIMIT, settings.JOBS_TIMEOUT_GRACE)
            if now >= attempt.last:
                attempt.last = math.inf
                self._stuck(attempt)
        self._loop.call_later(TICK, self._go_round)


def _note_tasks(loop: asyncio.AbstractEventLoop, body: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
    """Make a task, and note it for the attempt whose body starts it."""
    task: asyncio.Task[Any] = asyncio.Task(body, loop=loop, **options)
    context = options.get("context")
    attempt = _attempt.get() if context is None else context.get(_attempt)
    if attempt is not None:
        attempt.tasks.add(task)
        task.add_done_callback(attempt.tasks.discard)
    return task
