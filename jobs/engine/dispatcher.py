"""The dispatcher of a process: a thread that makes the dispatches which others ask for.

So a web request is answered when its job is stored, whatever the door or the broker is doing; and of many that come at
once, one dispatch serves all. A worker's parent has one too, for its other threads and for its children. What is asked
for and not made yet when the process ends, the clock makes good.
"""

import threading
from typing import Protocol

from django.db import close_old_connections, connection

from jobs import telemetry
from jobs.engine import dispatch

PAUSE = 0.005  # seconds from the end of one dispatch to the begin of the next; the first after a rest is made at once


class Bell(Protocol):
    """How a dispatcher is asked; it hears that it was, and not how often."""

    def ring(self) -> None: ...

    def wait(self) -> object:
        """Until somebody has rung; from then on it is silent again."""


class _Event:
    """Heard in its own process."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self.ring = self._rung.set

    def wait(self) -> None:
        self._rung.wait()
        self._rung.clear()


class Dispatcher:
    """Dispatches in a thread of its own, with a connection of its own, when it is asked to."""

    def __init__(self, pause: float = PAUSE, bell: Bell | None = None) -> None:
        self._pause = pause
        self._bell = bell or _Event()
        self._thread = threading.Thread(target=self.serve, name="dispatcher", daemon=True)

    def start(self) -> None:
        """From now on, make what commits ask for in this process."""
        self._thread.start()
        dispatch.relay_to(self._bell.ring)

    def serve(self, progress: object = None) -> None:
        """For ever, in a thread that somebody else has started (who is told of no progress)."""
        while True:
            self._bell.wait()  # silent before the dispatch: whoever asks from now on may not be seen by it
            try:
                close_old_connections()  # such as have failed at the dispatch before
                dispatch.dispatch()
            except Exception as error:  # whatever it is, the next one is to be made
                telemetry.noticed("dispatch failed", error=type(error).__name__)
                connection.close()
            threading.Event().wait(self._pause)
