"""The database threads of a light process: the ORM calls that its coroutines await run there.

Django refuses queries in an event loop, so asgiref runs each in a thread, and by default all of them in one: a slow
query would hold up every seat. Here they run in a few threads, each with Django's sessions of its own. After each call
its sessions are reset, so that nothing of one tenant's call reaches the next call, perhaps another tenant's. So nothing
is kept between two calls of an attempt, either: a transaction is one call (`await in_thread(...)`).
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import connections

from jobs import telemetry
from jobs.engine.attempt import session_reset
from jobs.engine.process.interrupt import interrupt
from plumbing.connections import drop_cut_connections

Around = Callable[[], AbstractContextManager[object]]


class Waits:
    """The longest wait of a call for a database thread."""

    def __init__(self) -> None:
        self._longest = 0.0

    def note(self, seconds: float) -> None:
        self._longest = max(self._longest, seconds)

    def take_longest(self) -> float:
        """Return the longest wait since the last call, in seconds."""
        longest, self._longest = self._longest, 0.0
        return longest


class DatabaseThreads(ThreadPoolExecutor):
    """Threads whose sessions are reset after each call. Each call gets whichever is free first."""

    def __init__(self, threads: int) -> None:
        self.waits = Waits()
        super().__init__(threads, thread_name_prefix="database")

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._call, time.monotonic(), partial(function, *args, **kwargs))

    def _call(self, since: float, call: Callable[[], Any]) -> Any:
        self.waits.note(time.monotonic() - since)
        drop_cut_connections()
        try:
            return call()
        finally:
            if not session_reset.clean():
                telemetry.noticed("a call left a transaction open: its session was closed")


@dataclass
class Lane(Executor):
    """The database calls of one attempt, one after the other, as asgiref asks of the executor of a context.

    around: returns the context of the project (JOBS_AROUND) for each call, in its thread.
    """

    threads: DatabaseThreads
    around: Around = nullcontext
    _calls: deque[tuple[Future[Any], Callable[[], Any]]] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _serving: bool = False
    _sessions: list[Any] = field(default_factory=list)  # of the call that runs now
    _ended: bool = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._calls.append((future, partial(function, *args, **kwargs)))
            begins, self._serving = not self._serving, True
        if begins:
            self.threads.submit(self._serve)
        return future

    def end(self) -> bool:
        """Cancel what the attempt has left here, also on the server. Return whether no call runs any more."""
        with self._lock:
            self._ended = True
            while self._calls:
                self._calls.popleft()[0].cancel()
            for session in self._sessions:
                interrupt(session)
            return not self._serving

    def is_idle(self) -> bool:
        """Return whether no call runs."""
        with self._lock:
            return not self._serving

    def _serve(self) -> None:
        """Serve one call; another one waits for its turn at the threads, as the calls of other attempts do."""
        with self._lock:
            future, call = self._calls.popleft() if self._calls else (None, None)
            self._sessions = [*connections.all()]
        tell: Callable[[], None] = _nothing
        if future is not None and call is not None and future.set_running_or_notify_cancel():
            try:
                with self.around():
                    tell = partial(future.set_result, call())
            except BaseException as error:
                tell = partial(future.set_exception, error)
        with self._lock:
            self._sessions = []
            if self._ended:  # a statement may have been cancelled just now: its session is of no more use
                for session in connections.all(initialized_only=True):
                    session.close()
            again = self._serving = bool(self._calls)
        tell()  # now: the coroutine that awaits this may end at once, and finds its lane idle
        if again:
            self.threads.submit(self._serve)


def _nothing() -> None:
    pass
