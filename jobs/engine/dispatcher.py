"""The dispatcher of a process: a thread that makes the dispatches that other threads request.

A web request is thus answered as soon as its job is stored, even if the door or the broker is slow. One dispatch serves
all requests that came before it. A worker's parent has a dispatcher too, for its other threads and its children. The
clock makes up for requests that are lost when the process ends.
"""

import threading
import time
from contextlib import nullcontext

from django.db import close_old_connections, connection

from jobs import telemetry
from jobs.engine import dispatch, runtime
from jobs.store import OwnSession
from tenants.connections import drop_cut_connections

DISPATCH_PAUSE = 0.005  # seconds between two dispatches; the first one after a rest starts at once


class Wakeup:
    """Wakes a dispatcher in the same process. Several requests before it wakes count as one."""

    def __init__(self) -> None:
        self._requested = threading.Event()

    def request(self) -> None:
        """Request a dispatch."""
        self._requested.set()

    def wait(self) -> None:
        """Block until there is a request, then take all that there are. For one thread."""
        self._requested.wait()
        self._requested.clear()


class Dispatcher:
    """Dispatches on request, in a thread and a database connection of its own; session: another than Django's."""

    def __init__(
        self, pause: float = DISPATCH_PAUSE, wakeup: Wakeup | None = None, session: OwnSession | None = None
    ) -> None:
        self._pause = pause
        self._speaking = session.speaking if session else nullcontext
        self._wakeup = wakeup or Wakeup()
        self._stopped = False
        self._thread = threading.Thread(target=self.serve, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Start the thread, and serve the commits of this process from now on."""
        self._thread.start()
        runtime.change(relay=self._wakeup.request)

    def stop(self) -> None:
        """Make no further dispatch."""
        self._stopped = True
        self._wakeup.request()

    def serve(self, progress: object = None) -> None:
        """Serve until stopped, in the caller's thread. `progress` is not used."""
        while True:
            self._wakeup.wait()  # reset before the dispatch, which may miss the work of later requests
            if self._stopped:
                connection.close()
                return
            try:
                close_old_connections()  # those that failed in the previous dispatch
                drop_cut_connections()  # or that the server cut since; this dispatch would be left to the clock
                with self._speaking():
                    dispatch.serve()
            except Exception as error:  # the thread must survive any error
                telemetry.noticed("dispatch failed", error=type(error).__name__)
                connection.close()
            time.sleep(self._pause)
