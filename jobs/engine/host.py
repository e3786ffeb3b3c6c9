"""Where bodies run: what the engine is given by a worker's process, and does without elsewhere, as in a test."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from jobs.store import Process, Started


class TimeLimit(Protocol):
    """Interrupts a body whose time is up."""

    time_is_up: type[BaseException]

    def arm(self, job: Started) -> None:
        """The body begins."""

    def disarm(self) -> None:
        """It has ended: nothing is interrupted any more. May be called twice."""

    def deferred(self) -> AbstractContextManager[None]:
        """The engine is at work in the body's name: do not interrupt before it is through."""


class NoLimit:
    """Outside a worker nobody counts the seconds."""

    time_is_up: type[BaseException] = TimeoutError

    def arm(self, job: Started) -> None: ...

    def disarm(self) -> None: ...

    @contextmanager
    def deferred(self) -> Iterator[None]:
        yield


@dataclass(frozen=True)
class Host:
    """A process that runs jobs.

    pool: whose jobs it may go on with when it has ended one; None: it goes on with none, and waits for the next
    message. speaking: in which session the engine speaks there. draining: whether it takes nothing more.
    """

    worker: uuid.UUID
    pool: str | None = None
    limit: TimeLimit = field(default_factory=NoLimit)
    speaking: Callable[[], AbstractContextManager[None]] = nullcontext
    draining: Callable[[], bool] = lambda: False

    @property
    def process(self) -> Process:
        return Process(self.worker, os.getpid())
