"""The time limit of a body, in the process that runs it: a timer, whose signal must hit the body and nothing else.

What does not hear the signal is ended by the parent, which reads the deadline on the desk.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from jobs.processes.desk import desk
from jobs.store import Started


class Timer:
    """One for each process that runs jobs; its main thread runs the bodies."""

    time_is_up: type[BaseException] = SoftTimeLimitExceeded

    def __init__(self) -> None:
        self._armed = False
        self._deferred = 0
        self._late = False

    def arm(self, job: Started) -> None:
        """The body begins. What one before it did to the signal is undone."""
        memory = settings.JOBS_DEFAULT_MEMORY if job.memory is None else job.memory
        desk.take_up(job.id, job.attempt, job.timeout + settings.JOBS_TIMEOUT_GRACE, memory)
        signal.signal(signal.SIGALRM, self._interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        self._armed, self._late = True, False
        signal.setitimer(signal.ITIMER_REAL, job.timeout)

    def disarm(self) -> None:
        """It has ended: the outcome is being written, and must not be lost to a late signal."""
        self._armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        desk.put_down()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """The engine's own session must not be torn in the middle of a statement."""
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
            raise SoftTimeLimitExceeded

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if not self._armed:
            return
        if self._deferred:
            self._late = True
        else:
            raise SoftTimeLimitExceeded
