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

INTERRUPTERS = 2  # threads
LEFT_OPEN = "of a transaction that a call left open"  # an alias that no project has
Around = Callable[[], AbstractContextManager[object]]


class ThreadWaits:
    """The longest wait of a call for a database thread."""

    def __init__(self) -> None:
        self._longest = 0.0

    def note(self, seconds: float) -> None:
        self._longest = max(self._longest, seconds)

    def take_longest(self) -> float:
        """Return the longest wait since the last call, in seconds."""
        longest, self._longest = self._longest, 0.0
        return longest


def send_all_rows() -> None:
    """Let the server send the rows of a query at once, in this process.

    Django would keep a cursor for the parts of an `aiterator`, each of which is a call: in another session, or in the
    same one in the middle of a call of another tenant.
    """
    for alias in connections:
        connections.settings[alias]["DISABLE_SERVER_SIDE_CURSORS"] = True


def in_clean_sessions(call: Callable[[], Any]) -> Any:
    """Call with Django's sessions of this thread, and reset them."""
    drop_cut_connections()
    try:
        return call()
    finally:
        for session in connections.all(initialized_only=True):
            for block in session.atomic_blocks:
                block.using = LEFT_OPEN  # else its end, whenever that comes, ends the transaction of another call
        if not session_reset.clean():
            telemetry.noticed("a call left a transaction open: its session was closed")


class CallSessions:
    """Django's sessions of the thread that runs a call. Another thread may cancel the statement of the call.

    current: the call that runs now; None: none does.
    """

    def __init__(self) -> None:
        self.current: object = None
        self._lock = threading.Lock()  # kept for as long as the server takes to cancel
        self._sessions: list[Any] = []
        self._interrupted = False

    def begin(self, call: object) -> None:
        """Begin this call, in its thread."""
        with self._lock:
            self.current, self._sessions, self._interrupted = call, [*connections.all()], False

    def interrupt(self, call: object) -> None:
        """Cancel the statement of this call on the server, if it runs. This may take its time."""
        with self._lock:
            if call is self.current:  # guard: else the next call would be cut off
                self._interrupted = True
                for session in self._sessions:
                    interrupt(session)

    def end(self) -> None:
        """End the call, in its thread."""
        with self._lock:
            self.current = None
            if self._interrupted:  # a statement may have been cancelled just now: its session is of no more use
                for session in connections.all(initialized_only=True):
                    session.close()


class DatabaseThreads(Executor):
    """The threads. Each call gets whichever is free first.

    interrupters: threads that cancel statements on the server, which may take its time.
    """

    def __init__(self, threads: int) -> None:
        self.waits = ThreadWaits()
        self.interrupters = ThreadPoolExecutor(INTERRUPTERS, thread_name_prefix="interrupter")
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="database")

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._pool.submit(self._call, time.monotonic(), partial(function, *args, **kwargs))

    def _call(self, since: float, call: Callable[[], Any]) -> Any:
        self.waits.note(time.monotonic() - since)
        return in_clean_sessions(call)


class Call(Future[Any]):
    """A call of a lane. Who cancels it while it runs cancels its statement on the server, too."""

    def __init__(self, lane: "Lane", call: Callable[[], Any]) -> None:
        super().__init__()
        self._lane, self.call = lane, call

    def cancel(self) -> bool:
        if super().cancel():
            return True
        self._lane.interrupt(self)
        return False


@dataclass
class Lane(Executor):
    """The database calls of one attempt, one after the other, as asgiref asks of the executor of a context.

    around: returns the context of the project (JOBS_AROUND) for each call, in its thread.
    """

    threads: DatabaseThreads
    around: Around = nullcontext
    _calls: deque[Call] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # the loop waits for it, so it is never kept
    _serving: bool = False
    _sessions: CallSessions = field(default_factory=CallSessions)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        call = Call(self, self._with_around(partial(function, *args, **kwargs)))
        with self._lock:
            self._calls.append(call)
            begins, self._serving = not self._serving, True
        if begins:
            self.threads.submit(self._serve)
        return call

    def interrupt(self, call: object) -> None:
        """Cancel the statement of this call if it runs, from another thread: the loop must not wait for the server."""
        self.threads.interrupters.submit(self._sessions.interrupt, call)

    def end(self) -> None:
        """Cancel what the attempt has left here, also on the server."""
        with self._lock:
            left = [self._calls.popleft() for _ in range(len(self._calls))]
        for call in left:
            call.cancel()
        if (running := self._sessions.current) is not None:
            self.interrupt(running)

    def is_idle(self) -> bool:
        """Return whether no call runs."""
        with self._lock:
            return not self._serving

    def _with_around(self, call: partial[Any]) -> Callable[[], Any]:
        """Return the call with the context of the project, inside the context variables of the call.

        The last argument of asgiref is what it calls with these.
        """
        *before, inner = call.args or (call,)
        if not callable(inner):
            return call
        inside = partial(self._call_inside, inner)
        return partial(call.func, *before, inside, **call.keywords) if call.args else inside

    def _call_inside(self, inner: Callable[[], Any]) -> Any:
        with self.around():
            return inner()

    def _serve(self) -> None:
        """Serve one call; another one waits for its turn at the threads, as the calls of other attempts do."""
        with self._lock:
            call = self._calls.popleft() if self._calls else None
        self._sessions.begin(call)
        tell: Callable[[], None] = _nothing
        if call is not None and call.set_running_or_notify_cancel():
            try:
                tell = partial(call.set_result, call.call())
            except BaseException as error:
                tell = partial(call.set_exception, error)
        self._sessions.end()
        with self._lock:
            again = self._serving = bool(self._calls)
        tell()  # now: the coroutine that awaits this may end at once, and finds its lane idle
        if again:
            self.threads.submit(self._serve)


def _nothing() -> None:
    pass
