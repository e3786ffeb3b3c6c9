"""The dispatcher of a web process: a thread that makes the dispatches which its requests ask for.

So a request is answered when its job is stored, whatever the door or the broker is doing; and of many that come at
once, one dispatch serves all. What is asked for and not made yet when the process ends, the clock makes good.
"""

import threading

from django.db import close_old_connections, connection

from jobs import telemetry
from jobs.engine import dispatch

PAUSE = 0.005  # seconds from the end of one dispatch to the begin of the next; the first after a rest is made at once


class Dispatcher:
    """Dispatches in a thread of its own, with a connection of its own, when it is asked to."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._pause = pause
        self._asked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """From now on, make what commits ask for in this process."""
        self._thread.start()
        dispatch.relay_to(self._asked.set)

    def _run(self) -> None:
        while self._asked.wait():
            self._asked.clear()  # before the dispatch: whoever asks from now on may not be seen by it
            try:
                close_old_connections()  # such as have failed at the dispatch before
                dispatch.dispatch()
            except Exception as error:  # whatever it is, the next one is to be made
                telemetry.noticed("dispatch failed", error=type(error).__name__)
                connection.close()
            threading.Event().wait(self._pause)
