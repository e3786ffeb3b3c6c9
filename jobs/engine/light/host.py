"""The light process as the engine sees it, and a seat of it."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import Error

from jobs import store
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.store import OwnSession


@dataclass(eq=False)
class LightProcess(ProcessHost):
    """A process with many seats. Its threads share one session of the engine's: psycopg serialises them.

    submit: runs a call in a thread, soon.
    """

    submit: Callable[..., object] = field(default=lambda call: call())
    loop_thread: int = 0
    _session: OwnSession = field(default_factory=OwnSession)

    def own_session(self) -> AbstractContextManager[None]:
        return self._session.speaking()

    def in_own_session(self, call: Callable[..., Any], *parameters: Any) -> Any:
        """Call with the engine's session."""
        with self.own_session():
            return call(*parameters)


@dataclass(eq=False)
class LightSeat(AttemptHost):
    """A seat on the loop.

    is_cancelled: returns whether the attempt was asked to stop, as the parent has told: the database is not asked.
    """

    is_cancelled: Callable[[], bool] = lambda: False

    def aside(self, statement: Callable[..., bool], *parameters: Any) -> bool:
        """Report progress without waiting, if this is the thread of the loop; answer at once whether to stop."""
        if statement is store.cancel_requested:
            return self.is_cancelled()
        if threading.get_ident() != self.process.loop_thread:  # type: ignore[attr-defined]
            return super().aside(statement, *parameters)
        self.process.submit(partial(self._report, statement, *parameters))  # type: ignore[attr-defined]
        return True

    def _report(self, statement: Callable[..., bool], *parameters: Any) -> None:
        with suppress(Error), self.process.own_session():
            statement(*parameters)
