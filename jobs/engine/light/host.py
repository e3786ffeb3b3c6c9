"""The light process as the engine sees it, and a seat of it."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import Error

from jobs import store
from jobs.engine.light.threads import BodyThreads
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.store import OwnSession


class _OfThisThread(threading.local):
    """A session of the engine for each thread: a broken one is closed for its own thread alone."""

    def __init__(self) -> None:
        self.session = OwnSession()  # it connects at its first use


@dataclass(eq=False)
class LightProcess(ProcessHost):
    """A process with many seats.

    submit: runs a call in a thread, soon; always the same one, so that reports keep their order and share a session.
    bodies: the threads of bodies without `async`; None: the pool runs none.
    time_is_up: what such a body gets at its time limit.
    """

    submit: Callable[..., Any] = field(default=lambda call: call())
    loop_thread: int = 0
    bodies: BodyThreads | None = None
    time_is_up: type[BaseException] = TimeoutError
    _threads: _OfThisThread = field(default_factory=_OfThisThread)

    def own_session(self) -> AbstractContextManager[None]:
        return self._threads.session.speaking()

    def in_own_session(self, call: Callable[..., Any], *parameters: Any) -> Any:
        """Call with the engine's session."""
        with self.own_session():
            return call(*parameters)


@dataclass(eq=False)
class LightSeat(AttemptHost):
    """A seat on the loop.

    is_cancelled: whether the attempt was asked to stop, as the parent has told: the database is not asked.
    heard: when its body has told last how far it is, or began, by time.monotonic().
    """

    process: LightProcess
    is_cancelled: bool = False
    heard: float = 0.0
    _latest: Callable[[], bool] | None = None  # the report that is still to be made
    _taking: threading.Lock = field(default_factory=threading.Lock)  # the loop waits for it, so it is never kept

    def hear(self) -> None:
        self.heard = time.monotonic()

    def aside(self, statement: Callable[..., bool], *parameters: Any) -> bool:
        """Report progress in the thread of the reports. On the loop, do not wait for it, and answer at once."""
        if statement is store.cancel_requested:
            return self.is_cancelled
        report = partial(super().aside, statement, *parameters)
        with self._taking:
            is_waiting, self._latest = self._latest is not None, report
        if threading.get_ident() != self.process.loop_thread:
            return bool(self.process.submit(self._report).result())
        if not is_waiting:  # else the later report takes the place of the one that waits
            self.process.submit(self._report)
        return True

    def _report(self) -> bool:
        with self._taking:
            report, self._latest = self._latest, None
        with suppress(Error):
            return report is not None and report()
        return False
