"""The host of bodies: the services that a worker's process gives the engine. Elsewhere, as in tests, defaults apply."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from jobs.store import Process, Started


class TimeLimit(Protocol):
    """Interrupts a stranger's code at its time limit. overran: whether the code went on until after it."""

    time_is_up: type[BaseException]
    overran: bool

    def arm(self, job: Started, seconds: float) -> None:
        """Start the timer: the body begins, or other code of its author."""

    def disarm(self) -> None:
        """Stop the timer: that has ended. May be called twice."""

    def deferred(self) -> AbstractContextManager[None]:
        """Defer the interrupt while the engine works on behalf of the body."""


class NoLimit:
    """No time limit, outside a worker."""

    time_is_up: type[BaseException] = TimeoutError
    overran = False

    def arm(self, job: Started, seconds: float) -> None: ...

    def disarm(self) -> None: ...

    @contextmanager
    def deferred(self) -> Iterator[None]:
        yield


class PeakMemory(Protocol):
    """Measures the memory of this process during a body."""

    def reset(self) -> None:
        """The body begins."""

    def read(self) -> int | None:
        """The most memory since then in MiB; None: not known."""


class NoPeak:
    """No measurement, outside a worker."""

    def reset(self) -> None: ...

    def read(self) -> int | None:
        return None


class Seat(Protocol):
    """Tells the parent what this process holds. Whoever holds an attempt unknown to the parent loses it."""

    def hold(self, job_id: int, attempt: int) -> None:
        """The process is about to start the attempt, or has got it; it holds no other."""

    def let_go(self) -> None:
        """The process holds no attempt any more: its settling was answered, and so was the pass that may start one."""


class NoSeat:
    """No parent, outside a worker."""

    def hold(self, job_id: int, attempt: int) -> None: ...

    def let_go(self) -> None: ...


@dataclass(frozen=True)
class Host:
    """A process that runs jobs.

    pool: after a job, the process may go on with another job of this pool; None: it waits for the next message.
    waited_for_core: the seconds for which this thread was ready to run and no core was free, in its life.
    speaking: the context in which the engine uses its session. draining: whether the process takes no more jobs.
    told_to_exit: whether a signal has ended the body, and ends the process. last_words: sends the messages of what it
    has claimed, before the process ends by itself.
    """

    worker: uuid.UUID
    pool: str | None = None
    seat: Seat = field(default_factory=NoSeat)
    limit: TimeLimit = field(default_factory=NoLimit)
    peak: PeakMemory = field(default_factory=NoPeak)
    waited_for_core: Callable[[], float] = lambda: 0.0
    speaking: Callable[[], AbstractContextManager[None]] = nullcontext
    draining: Callable[[], bool] = lambda: False
    told_to_exit: Callable[[], bool] = lambda: False
    last_words: Callable[[], object] = lambda: None

    @property
    def process(self) -> Process:
        return Process(self.worker, os.getpid())
