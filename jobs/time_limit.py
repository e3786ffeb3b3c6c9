"""The soft time limit, in the process that runs a job: a timer that must hit the body and nothing after it."""

import signal
import threading

from celery.exceptions import SoftTimeLimitExceeded


def arm(seconds: float) -> None:
    """Let the body be interrupted after so many seconds."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def disarm() -> None:
    """Interrupt nothing any more: the outcome is being written, and must not be lost to a late limit."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(*_: object) -> None:
    raise SoftTimeLimitExceeded
