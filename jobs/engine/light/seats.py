"""The seats of a light process: the attempts on its event loop. All methods run in the thread of the loop.

The loop runs for the life of the process. Every TICK seconds it notes that it goes round, and cancels the attempts
whose time is up. Nothing here waits: what asks the database, the cache or code of the project's own does so in threads.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.db import Error

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.attempt.body import StillAway
from jobs.engine.attempt.captured_output import PAUSE
from jobs.engine.attempt.execute import attempt_context
from jobs.engine.attempt.settle import settle
from jobs.engine.light import coroutine, stack
from jobs.engine.light.coroutine import CANCEL, Attempt
from jobs.engine.light.database import DatabaseThreads, Lane
from jobs.engine.light.host import LightProcess, LightSeat
from jobs.engine.light.rest import end_rest, make_task, note_body, tell, watch_generators
from jobs.engine.process.patience import DATABASE_PATIENCE
from jobs.engine.process.user_code import in_a_thread
from jobs.lifecycle import HandBack
from jobs.store import Started, may_pass
from jobs.telemetry import traces

TICK = 0.05  # seconds
LATE = 0.25  # seconds beyond TICK after which a loop counts as blocked, for its process and for the parent
KEEPERS = 4  # threads that keep results
SETTLERS = 4  # threads that settle what did not succeed: a retry policy may hang
MOST_LOGS = 100  # that are stored in one go, every PAUSE seconds, while their bodies run
DATABASE_PAUSE = 1.0  # seconds between two tries to settle while the database is away


class Seats:
    """The seats of this process.

    tick: called each TICK seconds.
    ended: gets the attempts that have ended: a success is still to be settled, unless its body has; all others are.
    stuck: called with an attempt that did not end although it was cancelled, or that has left what does not end.
    """

    def __init__(
        self,
        process: LightProcess,
        database: DatabaseThreads,
        *,
        tick: Callable[[], object],
        ended: Callable[[Attempt], object],
        stuck: Callable[[Attempt], object],
    ) -> None:
        self._process, self._database = process, database
        self._tick, self._ended, self._stuck = tick, ended, stuck
        self._attempts: dict[tuple[int, int], Attempt] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._keepers = ThreadPoolExecutor(KEEPERS, thread_name_prefix="keeper")
        self._settlers = ThreadPoolExecutor(SETTLERS, thread_name_prefix="settler")
        self._loop = asyncio.get_running_loop()
        self._logs_at, self._storing_logs = 0.0, False
        self._round, self._blamed = time.monotonic(), (0, 0)
        self._loop.set_task_factory(make_task)  # type: ignore[arg-type]
        self._loop.set_exception_handler(tell)
        self._end_rest = partial(end_rest, stuck=stuck)
        self._go_round()

    def begin(self, jobs: Sequence[Started]) -> None:
        """Begin these attempts, which have started by their rows."""
        attempts = [Attempt(job, LightSeat(self._process), Lane(self._database)) for job in jobs]
        now = time.monotonic()
        for attempt in attempts:  # the look-up of its object may take no longer than in an ordinary process
            attempt.last = now + attempt.job.timeout + DATABASE_PATIENCE
        self._attempts |= {attempt.key: attempt for attempt in attempts}
        by_type: dict[str, list[Attempt]] = {}  # one whose objects take long to find must not hold up the others
        for attempt in attempts:
            by_type.setdefault(attempt.job.source_type, []).append(attempt)
        for alike in by_type.values():
            found = self._loop.run_in_executor(self._database, coroutine.find, alike)
            found.add_done_callback(partial(self._run_all, alike))

    def cancel(self, keys: Sequence[tuple[int, int]]) -> None:
        """Cancel these attempts, which were asked to stop."""
        for key in keys:
            if attempt := self._attempts.get(key):
                attempt.cancel(CANCEL, settings.JOBS_CANCEL_GRACE)

    def ask_back(self, wanted: Mapping[tuple[int, int], HandBack | None]) -> None:
        """Ask these attempts to give their slots back, each at its next checkpoint; or no longer (None)."""
        for key, why in wanted.items():
            if attempt := self._attempts.get(key):
                attempt.host.back = why

    def now_running(self) -> Attempt | None:
        """Return the attempt whose coroutine is on the loop at this moment. For another thread, which sees it block."""
        task = asyncio.current_task(self._loop)
        attempts = list(self._attempts.values())
        return next(
            (attempt for attempt in attempts if task is attempt.task or task in attempt.tasks | attempt.closing), None
        )

    def blame(self, key: tuple[int, int]) -> None:
        """Note whose code keeps the loop from its next round. For another thread, which sees it."""
        self._blamed = key

    def stack_of(self, key: tuple[int, int]) -> tuple[str, str]:
        """Return the stack of a body; or "", and why it has none. For another thread, since the loop may be blocked."""
        attempt = self._attempts.get(key)
        if attempt is None or attempt.due is None:
            return "", "Its body does not run: it begins, or has just ended."
        return stack.of_attempt(attempt, self._process.loop_thread, on_the_loop=self.now_running() is attempt), ""

    def _run_all(self, attempts: Sequence[Attempt], found: asyncio.Future[None]) -> None:
        if found.exception() is not None:
            telemetry.noticed("objects not found", error=type(found.exception()).__name__)
        watch_generators()
        for attempt in attempts:
            attempt.last = math.inf  # its object is found
            note_body(attempt)
            attempt.task = self._loop.create_task(_run(attempt, self._end_rest), context=attempt.context)
            attempt.tasks.discard(attempt.task)  # it is no rest
            attempt.task.add_done_callback(partial(self._body_ended, attempt))

    def _body_ended(self, attempt: Attempt, task: asyncio.Task[None]) -> None:
        """End the attempt, not in the task of the body: the body's own code may have cancelled that once more."""
        attempt.due, attempt.last = None, math.inf
        outcome = attempt.outcome
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if not attempt.is_over:
            outcome.error = error
            outcome.leave_out_the_rest(attempt.job)
        is_kept = outcome.text is None or outcome.has_ended
        if outcome.error is not None or not is_kept or outcome.log is not None:
            ending = self._loop.create_task(self._end(attempt))
            self._ending.add(ending)  # the loop itself would not keep it
            ending.add_done_callback(self._ending.discard)
        else:
            outcome.keep_result(attempt.job)  # None, which costs no trip to the cache
            self._let_go(attempt)

    async def _end(self, attempt: Attempt) -> None:
        if not isinstance(attempt.outcome.error, StillAway):  # else its body has not begun: the parent takes it back
            threads = self._keepers if attempt.outcome.error is None else self._settlers
            try:
                await self._loop.run_in_executor(threads, self._process.in_own_session, self._finish, attempt)
            except Exception as error:  # its row runs, and no seat holds it: the parent takes it back
                telemetry.noticed("outcome was lost", job=attempt.job.id, error=type(error).__name__)
                attempt.outcome.error = error
        self._let_go(attempt)

    def _let_go(self, attempt: Attempt) -> None:
        del self._attempts[attempt.key]
        self._ended(attempt)
        attempt.let_go()

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
                if not may_pass(error):
                    raise
                telemetry.noticed("outcome waits for the database", job=job.id, error=type(error).__name__)
                time.sleep(DATABASE_PAUSE)

    def _go_round(self) -> None:
        """Note that the loop goes round; cancel what is due; tell of what has not ended after its grace."""
        self._loop.call_later(TICK, self._go_round)  # first: to cancel a task may run code of its author, and raise
        self._tick()
        now = time.monotonic()
        self._forgive(now)
        if now >= self._logs_at and not self._storing_logs:
            self._store_logs(now)
        for attempt in list(self._attempts.values()):
            if attempt.due is not None and now >= attempt.due:
                attempt.end_if_late(now, settings.JOBS_TIMEOUT_GRACE)
            if now >= attempt.last:
                attempt.last = math.inf
                self._stuck(attempt)

    def _store_logs(self, now: float) -> None:
        """Store the logs that have grown, in the thread of the reports; the next go begins when this one is over."""
        self._logs_at = now + PAUSE
        grown = [one for one in self._attempts.values() if one.outcome.log is not None and one.outcome.log.is_due()]
        if grown:
            self._storing_logs = True
            self._process.submit(self._process.in_own_session, self._store, grown[:MOST_LOGS])

    def _store(self, grown: Sequence[Attempt]) -> None:
        try:
            for attempt in grown:
                attempt.outcome.keep_log_so_far(attempt.job)
        finally:
            self._storing_logs = False

    def _forgive(self, now: float) -> None:
        """Count no silence of bodies while another one blocked the loop: they could not tell anything."""
        stood, self._round = now - self._round, now
        blamed, self._blamed = self._blamed, (0, 0)
        if stood < TICK + LATE:
            return
        for key, attempt in self._attempts.items():
            if key != blamed:
                attempt.host.heard = min(attempt.host.heard + stood, now)


async def _run(attempt: Attempt, end_rest: Callable[[Attempt], Awaitable[None]]) -> None:
    attempt.start_clock()  # now: who is cancelled before it begins would have no end
    with attempt_context(attempt.job) as span:
        await coroutine.run(attempt, end_rest)
        if attempt.outcome.error is not None and attempt.outcome.has_failed:
            traces.failed(span, attempt.outcome.error)
