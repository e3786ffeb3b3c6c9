"""Wait until a new child answers."""

import socket
import time
from collections.abc import Callable

from embedded import EmbeddedError
from embedded.process import Process

POLL = 0.02


def wait(process: Process, answers: Callable[[], bool], limit: float = 30.0) -> None:
    """Return when `answers()` is true. Raises `EmbeddedError`, with the end of the log, if `process` ends first, or
    after `limit` seconds."""
    deadline = time.monotonic() + limit
    while not answers():
        if process.restarts or not process.alive:
            raise EmbeddedError(f"{process.name} ended while starting.{_end_of_log(process)}")
        if time.monotonic() > deadline:
            raise EmbeddedError(f"{process.name} does not answer after {limit:.0f} s.{_end_of_log(process)}")
        time.sleep(POLL)


def listens(port: int) -> bool:
    """Whether somebody answers at that port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _end_of_log(process: Process, lines: int = 15) -> str:
    if process.log is None:
        return ""
    text = process.log.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join([f" The end of {process.log}:", *(f"  {line}" for line in text)])
