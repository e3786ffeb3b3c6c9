"""The time limit of a body, in its own process: a timer whose signal must interrupt user code and nothing else.

If a process ignores the signal, the parent ends it at the deadline in the running table.
"""

import math
import signal
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from celery.exceptions import SoftTimeLimitExceeded

from jobs.conf import settings
from jobs.engine.process.host import TimeLimit
from jobs.store import Started
from jobs.worker.children.entry import OwnEntry

LEAST_TIMER = 1e-3  # seconds; 0 would stop it
DEAF = 1.0  # seconds until a loop that has not begun to cancel its coroutine is taken for blocked


class TimeIsUp(SoftTimeLimitExceeded):
    """The time of a body is up, by the timer of this process. Every other exception is the body's own."""


class Timer(TimeLimit):
    """The timer of a process with one seat; its main thread runs the bodies."""

    time_is_up = TimeIsUp

    def __init__(self, entry: OwnEntry) -> None:
        """Make the timer of the seat with this entry."""
        self._entry = entry
        self.overran, self.silent_for = False, 0.0
        self._armed = False
        self._ends_at = 0.0
        self._silence, self._heard = math.inf, 0.0
        self._deferred = 0
        self._late = False
        self._ask_to_cancel: Callable[[], object] | None = None

    def arm(self, job: Started, seconds: float, silence: float | None = None) -> None:
        """Start the timer. Undo an earlier body's changes of the signal handler."""
        memory = settings.JOBS_DEFAULT_MEMORY if job.memory is None else job.memory
        self._entry.limit(seconds + settings.JOBS_TIMEOUT_GRACE, memory, silence or 0.0)
        signal.signal(signal.SIGALRM, self._interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        self._silence = math.inf if silence is None else silence
        self._armed, self._late, self.overran, self.silent_for = True, False, False, 0.0
        self._heard = time.monotonic()
        self._ends_at = self._heard + seconds
        signal.setitimer(signal.ITIMER_REAL, min(seconds, self._silence))

    def hear(self) -> None:
        """Note that the body has told something. What it tells once it was ended for its silence is too late."""
        if self._armed and self._silence < math.inf and not self.silent_for:
            self._heard = time.monotonic()
            self._entry.hear(self._heard)

    def disarm(self) -> None:
        """Stop the timer: the body has ended, and a late signal must not lose its outcome.

        A clock decides whether the body overran: it may have blocked the signal, or caught what the signal raises.
        """
        if self._armed:
            self._armed = False
            self.overran = time.monotonic() >= self._ends_at or self._is_silent()
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._entry.lift_limit()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer the signal while the engine's own session runs a statement."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1
        if self._late and not self._deferred:
            self._late = False
            self._end_body()

    @contextmanager
    def cancelling(self, loop: AbstractEventLoop, cancel: Callable[[], None]) -> Iterator[None]:
        """Let the loop call `cancel` at the limit inside the block. A loop that is blocked is interrupted, too."""

        def cancel_in_the_loop() -> None:
            cancel()
            signal.setitimer(signal.ITIMER_REAL, 0)

        self._ask_to_cancel = lambda: loop.call_soon_threadsafe(cancel_in_the_loop)
        try:
            yield
        finally:
            self._ask_to_cancel = None

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if not self._armed:
            return
        if self._deferred:
            self._late = True
        else:
            self._end_body()

    def _is_silent(self) -> bool:
        """Return whether the body has told nothing for too long, now or when it was ended for that."""
        if not self.silent_for and self._heard + self._silence <= time.monotonic() < self._ends_at:
            self.silent_for = self._silence
        return self.silent_for > 0

    def _end_body(self) -> None:
        if self._silence < math.inf and not self._is_silent():
            left = min(self._ends_at, self._heard + self._silence) - time.monotonic()
            if left > 0:  # the body has told something since the timer was set
                signal.setitimer(signal.ITIMER_REAL, max(left, LEAST_TIMER))
                return
        if self._ask_to_cancel is None:
            raise TimeIsUp
        ask, self._ask_to_cancel = self._ask_to_cancel, None
        ask()
        signal.setitimer(signal.ITIMER_REAL, DEAF)
