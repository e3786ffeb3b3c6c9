"""Waiting for what other processes do: by looking, until a limit that only a broken build reaches."""

import threading
import time
from collections.abc import Callable

LIMIT = 60.0  # seconds


def wait_until(condition: Callable[[], object], what: str, limit: float = LIMIT) -> None:
    """Look until the condition is true. Raises AssertionError, naming `what` was awaited, after `limit` seconds."""
    give_up = time.monotonic() + limit
    pause = threading.Event()
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"in vain: {what} ({limit:g} s)")
        pause.wait(0.02)
