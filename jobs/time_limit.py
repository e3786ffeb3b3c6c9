"""The soft time limit, in the process that runs a job: a signal that must hit the body and nothing after it."""

import signal
import threading

from billiard.pool import SIG_SOFT_TIMEOUT, soft_timeout_sighandler


def arm() -> None:
    """Let the signal interrupt what runs."""
    _set(soft_timeout_sighandler)


def disarm() -> None:
    """Ignore the signal until the next `arm`: the outcome is being written, and must not be lost to a late limit."""
    _set(signal.SIG_IGN)


def _set(action: signal.Handlers | object) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(SIG_SOFT_TIMEOUT, action)  # type: ignore[arg-type]
