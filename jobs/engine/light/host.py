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
from jobs.lifecycle import HandBack
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
    drains: whether its worker stops.
    """

    submit: Callable[..., Any] = field(default=lambda call, *parameters: call(*parameters))
    loop_thread: int = 0
    bodies: BodyThreads | None = None
    time_is_up: type[BaseException] = TimeoutError
    drains: bool = False
    _threads: _OfThisThread = field(default_factory=_OfThisThread)

    def is_draining(self) -> bool:
        return self.drains

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
    back: why it is asked to give its slot back, as the parent has told; None: it is not.
    """

    process: LightProcess
    is_cancelled: bool = False
    heard: float = 0.0
    back: HandBack | None = None
    _latest: dict[Any, Callable[[], bool]] = field(default_factory=dict)  # by statement: the report still to be made
    _taking: threading.Lock = field(default_factory=threading.Lock)  # the loop waits for it, so it is never kept

    def hear(self) -> None:
        self.heard = time.monotonic()

    def aside(self, statement: Callable[..., bool], *parameters: Any) -> bool:
        """Report in the thread of the reports. On the loop, do not wait for it, and answer at once."""
        if statement is store.cancel_requested:
            return self.is_cancelled
        report = partial(super().aside, statement, *parameters)
        with self._taking:
            is_waiting, self._latest[statement] = statement in self._latest, report
        if threading.get_ident() != self.process.loop_thread:
            return bool(self.process.submit(self._report, statement).result())
        if not is_waiting:  # else the later report takes the place of the one that waits
            self.process.submit(self._report, statement)
        return True

    def asked_back(self) -> HandBack | None:
        return super().asked_back() or self.back

    def _report(self, statement: Callable[..., bool]) -> bool:
        with self._taking:
            report = self._latest.pop(statement, None)
        with suppress(Error):
            return report is not None and report()
        return False
