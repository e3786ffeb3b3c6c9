"""The thread in which the ORM runs for a body that awaits it: it uses the sessions of the body.

Django refuses queries in an event loop, so `await Model.objects.aget()` runs them in another thread, by
`sync_to_async`. Under `async_to_sync` that is the thread which waits for the loop: the one of the body. Under
`asyncio.run` it is a thread that asgiref keeps for the whole process. With sessions of its own, that thread would know
nothing of JOBS_AROUND, and would keep what one body has left for the next body, perhaps another tenant's. So it is
replaced by a thread that has the sessions of the body.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

from asgiref.sync import SyncToAsync
from django.db import connections

from jobs.engine.process.interrupt import CANCEL_PATIENCE, interrupt


class SyncThread(ThreadPoolExecutor):
    """Takes the place of asgiref's single thread. Made in the thread that runs bodies, whose sessions it uses.

    A loop in another thread of the body does not get these sessions, which the body itself may use meanwhile.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="sync_to_async")
        self._body, self._sessions = threading.get_ident(), connections.all()
        self._used = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._used = True
        if threading.get_ident() == self._body:
            function = partial(self._in_the_sessions_of_the_body, function)
        return super().submit(function, *args, **kwargs)

    def _in_the_sessions_of_the_body(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        before = connections.all(initialized_only=True)
        for session in self._sessions:
            session.inc_thread_sharing()
        _take(self._sessions)
        try:
            return function(*args, **kwargs)
        finally:
            _take(before)
            for session in self._sessions:
                session.dec_thread_sharing()

    def interrupt(self) -> None:
        """Cancel the statement that runs here."""
        for session in self._sessions:
            interrupt(session)

    def is_idle(self) -> bool:
        """Cancel the statement that a body has left here, and wait; return whether the thread is idle.

        Return False if something still runs after CANCEL_PATIENCE seconds. The thread uses the sessions of the body, so
        no other thread may use them before it is idle.
        """
        if self._used:
            last = super().submit(bool)  # there is one thread, so all else has ended before
            self.interrupt()
            wait([last], CANCEL_PATIENCE)
            self._used = not last.done()
        return not self._used

    def keep_the_sessions(self) -> None:
        """Leave the sessions of the body to the code that still runs here; the thread of the body gets others."""
        _take([])


def _take(sessions: Iterable[Any]) -> None:
    """Make these the sessions of this thread."""
    for session in connections.all(initialized_only=True):
        del connections[session.alias]
    for session in sessions:
        connections[session.alias] = session


@contextmanager
def sync_thread() -> Iterator[SyncThread]:
    """Run the ORM calls that bodies await inside the block in the sessions of this thread."""
    before = SyncToAsync.single_thread_executor
    with SyncThread() as mine:
        SyncToAsync.single_thread_executor = mine
        try:
            yield mine
        finally:
            SyncToAsync.single_thread_executor = before
