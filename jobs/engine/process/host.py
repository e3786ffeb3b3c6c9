"""The host of bodies, as the engine sees it: the process that runs jobs, and a seat of it, which runs one attempt."""

import threading
import uuid
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import Error

from jobs import store, telemetry
from jobs.engine.process.ask import ask
from jobs.lifecycle import HandBack
from jobs.store import Seat, Started


class TimeLimit:
    """Interrupts user code at its time limit. This class never does: outside a worker there is no limit.

    overran: whether the code went on after its limit.
    silent_for: the seconds without a word from the body that its limit was; 0: it was no silence that ended the body.
    """

    time_is_up: type[BaseException] = TimeoutError
    overran = False
    silent_for = 0.0

    def arm(self, job: Started, seconds: float, silence: float | None = None) -> None:
        """Start the timer, since the body begins, or other code of its author.

        silence: seconds after which its time is up, too, if it has told nothing; None: it may be silent.
        """

    def hear(self) -> None:
        """Note that the body has told how far it is. Any thread may call this, and it costs no trip."""

    def disarm(self) -> None:
        """Stop the timer, since that code has ended. May be called twice."""

    def cancelling(self, loop: AbstractEventLoop, cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """Let the loop call `cancel` at the limit inside the block, in place of an exception in this thread."""
        return nullcontext()

    def deferred(self) -> AbstractContextManager[None]:
        """Defer the interrupt while the engine works on behalf of the body."""
        return nullcontext()


@dataclass(eq=False)
class ProcessHost:
    """A process without a parent, as in tests. A worker's process (worker/children/child.py) overrides the methods.

    pool: after a job, the process may go on with another job of this pool; None: it waits for the next message.
    """

    worker: uuid.UUID
    pool: str | None = None

    def own_session(self) -> AbstractContextManager[None]:
        """Return a context in which the engine uses a database session that no body can reach."""
        return nullcontext()

    def of_a_body(self) -> AbstractContextManager[None]:
        """Return the context of a body: after it, no call that the body awaited uses the body's sessions."""
        return nullcontext()

    def beside_a_body(self, call: Callable[[], object], pause: float, over: threading.Event) -> None:
        """Call again and again from now on, with a session of the engine, until `over`. Without a parent: never."""

    def cancel_calls(self) -> None:
        """Cancel the statements of the calls that a coroutine awaits, since the coroutine is cancelled."""

    def end_threads(self) -> str:
        """End the sessions of the body's other threads; return the name of a thread that still runs, or ""."""
        return ""

    def is_draining(self) -> bool:
        """Return whether the process takes no more jobs."""
        return False

    def undisturbed(self) -> AbstractContextManager[None]:
        """Return a context that ignores signals to end this process: its parent decides when it ends."""
        return nullcontext()

    def waited_for_core(self) -> float:
        """Return the seconds in the life of this thread for which it was ready to run and no core was free."""
        return 0.0

    def reset_peak(self) -> None:
        """Begin to measure memory anew, since a body begins."""

    def peak_memory(self) -> int | None:
        """Return the most memory that the process used since `reset_peak`, in MiB; None: not known."""
        return None

    def send_messages(self) -> None:
        """Send what is left to send, before the process ends by itself."""


@dataclass(eq=False)
class AttemptHost:
    """A seat of a process. It holds one attempt at a time; a worker's (worker/children/child.py) tells its parent."""

    process: ProcessHost
    limit: TimeLimit = field(default_factory=TimeLimit)
    seat: Seat = field(init=False)

    def __post_init__(self) -> None:
        self.seat = Seat.here(self.process.worker)

    def hold(self, job_id: int, attempt: int) -> None:
        """Tell the parent that this seat is about to start the attempt, or has got it; it holds no other.

        The parent takes back an attempt that a process holds by its row, and by none of its seats.
        """

    def let_go(self) -> None:
        """Tell the parent that this seat holds no attempt: the settling and the next pass have been answered."""

    def hear(self) -> None:
        """Note that the body has told how far it is: its silence begins anew."""
        self.limit.hear()

    def asked_back(self) -> HandBack | None:
        """Return why the attempt is to give its slot back at a checkpoint, as the parent has told; None: it is not."""
        return HandBack.DRAIN if self.process.is_draining() else None

    def aside(self, statement: Callable[..., bool], *parameters: Any) -> bool:
        """Run a statement of the engine for the body: report progress, or check for a cancel.

        Return False while the database is away: that must not fail the job.
        """
        try:
            with self.limit.deferred(), self.process.own_session():
                return ask(partial(statement, *parameters))
        except Error as error:
            if not store.may_pass(error):
                raise
            with self.process.own_session():
                ask(lambda: store.session().close())  # the next report connects anew
            telemetry.noticed("job without database", error=type(error).__name__)
            return False
