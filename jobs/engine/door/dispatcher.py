"""The dispatcher of a process: a thread that makes the dispatches that other threads request.

A web request is thus answered as soon as its job is stored, even if the door or the broker is slow. One dispatch serves
all requests that came before it. A worker's parent has a dispatcher too, for its other threads and its children. The
clock makes up for requests that are lost when the process ends.
"""

import atexit
import os
import threading
import time
from contextlib import nullcontext

from django.core import mail
from django.db import close_old_connections, connection

from jobs import telemetry
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.store import OwnSession
from plumbing.connections import drop_cut_connections

DISPATCH_PAUSE = 0.005  # seconds between two dispatches; the first one after a rest starts at once
# Seconds, while all processes have a job and others wait. A process that becomes free dispatches at once: it keeps a
# job without a message if no dispatch of ours was faster.
FULL_PAUSE = 0.05
LAST_PATIENCE = 5.0  # seconds for which a process that ends waits for its last dispatch


def dispatch_in_background(using: str | None = None) -> None:
    """Dispatch in a thread of this process from now on, so that a submit waits for no dispatch and no broker.

    For a process that submits many jobs: a web process (in `asgi.py`, `wsgi.py`), a program that imports. The thread
    starts with the first job, also in each process that is forked from this one. When the process ends, it first
    dispatches what it has submitted.

    using: the alias of a database whose sessions lead to the server itself, if the sessions of "default" go through a
    pooler in transaction mode.
    """
    background = BackgroundWork(using)
    runtime.change(relay=background.request)
    atexit.register(background.finish)


class Wakeup:
    """Wakes a dispatcher in the same process. Several requests before it wakes count as one."""

    def __init__(self) -> None:
        self._requested = threading.Event()

    def request(self) -> None:
        """Request a dispatch."""
        self._requested.set()

    def wait(self) -> None:
        """Block until there is a request, then take all requests. Only one thread may call this."""
        self._requested.wait()
        self._requested.clear()


class Dispatcher:
    """Dispatches on request, in a database connection of its own.

    session: the session to dispatch in; None: Django's of the thread.
    """

    def __init__(
        self, pause: float = DISPATCH_PAUSE, wakeup: Wakeup | None = None, session: OwnSession | None = None
    ) -> None:
        self._pause = pause
        self._speaking = session.speaking if session else nullcontext
        self._wakeup = wakeup or Wakeup()
        self._stopped = False
        self._served = threading.Event()

    def request(self) -> None:
        """Request a dispatch."""
        self._wakeup.request()

    def stop(self) -> None:
        """Make no further dispatch."""
        self._stopped = True
        self._wakeup.request()

    def finish(self, patience: float) -> None:
        """Wait until the requested dispatches are made, for at most `patience` seconds."""
        self._served = served = threading.Event()
        self._wakeup.request()
        served.wait(patience)

    def serve(self, progress: object = None) -> None:
        """Serve until stopped, in the caller's thread. `progress` is not used."""
        while True:
            self._wakeup.wait()  # reset before the dispatch, which may miss the work of later requests
            served = self._served
            if self._stopped:
                connection.close()
                return
            full = False
            try:
                close_old_connections()  # that failed in the previous dispatch
                drop_cut_connections()  # or that the server has cut since: this dispatch would fail in them
                with self._speaking():
                    full = dispatch.serve()
            except Exception as error:  # the thread must survive any error
                telemetry.noticed("dispatch failed", error=type(error).__name__)
                connection.close()
            served.set()
            time.sleep(FULL_PAUSE if full else self._pause)


class BackgroundWork:
    """The dispatcher of a process that submits, in a thread that starts with the first request."""

    def __init__(self, using: str | None, pause: float = DISPATCH_PAUSE) -> None:
        self._using, self._pause = using, pause
        self._starting = threading.Lock()
        self._process: int | None = None  # the one with the thread: a fork does not copy threads

    def request(self) -> None:
        """Request a dispatch."""
        if hasattr(mail, "outbox"):  # Django's tests: a thread's session would keep their database from being dropped
            dispatch.serve()
            return
        with self._starting:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._dispatcher = Dispatcher(self._pause, session=OwnSession(self._using) if self._using else None)
                threading.Thread(target=self._dispatcher.serve, name="dispatcher", daemon=True).start()
        self._dispatcher.request()

    def finish(self) -> None:
        """Have the requested dispatches made before this process ends."""
        if self._process == os.getpid():
            self._dispatcher.finish(LAST_PATIENCE)
