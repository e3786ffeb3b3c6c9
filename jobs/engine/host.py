"""The host of bodies: the process that runs jobs, as the engine sees it."""

import os
import uuid
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from jobs.store import Process, Started


class TimeLimit:
    """Interrupts user code at its time limit. This one never does: outside a worker there is none.

    overran: whether the code went on until after its limit.
    """

    time_is_up: type[BaseException] = TimeoutError
    overran = False

    def arm(self, job: Started, seconds: float) -> None:
        """Start the timer: the body begins, or other code of its author."""

    def disarm(self) -> None:
        """Stop the timer: that has ended. May be called twice."""

    def deferred(self) -> AbstractContextManager[None]:
        """Defer the interrupt while the engine works on behalf of the body."""
        return nullcontext()


@dataclass(eq=False)
class Host:
    """A process without a parent, as in tests. A worker's process (worker/children/child.py) overrides the methods.

    pool: after a job, the process may go on with another job of this pool; None: it waits for the next message.
    """

    worker: uuid.UUID
    pool: str | None = None
    limit: TimeLimit = field(default_factory=TimeLimit)

    @property
    def process(self) -> Process:
        return Process(self.worker, os.getpid())

    def hold(self, job_id: int, attempt: int) -> None:
        """Tell the parent that the process is about to start the attempt, or has got it; it holds no other.

        Whoever holds an attempt unknown to the parent loses it.
        """

    def let_go(self) -> None:
        """Tell the parent that the process holds no attempt: its settling was answered, and so was the next pass."""

    def own_session(self) -> AbstractContextManager[None]:
        """The context in which the engine uses a database session that no body can reach."""
        return nullcontext()

    def of_a_body(self) -> AbstractContextManager[None]:
        """The context of a body: after it, nothing that the body awaited uses its sessions."""
        return nullcontext()

    def end_threads(self) -> str:
        """End what the other threads of the body have left; return the name of what still runs, or ""."""
        return ""

    def is_draining(self) -> bool:
        """Whether the process takes no more jobs."""
        return False

    def undisturbed(self) -> AbstractContextManager[None]:
        """The context in which signals that ask this process to end do nothing: its parent says when it ends."""
        return nullcontext()

    def waited_for_core(self) -> float:
        """The seconds for which this thread was ready to run and no core was free, in its life."""
        return 0.0

    def reset_peak(self) -> None:
        """Measure memory anew: a body begins."""

    def peak_memory(self) -> int | None:
        """The most memory that the process used since then, in MiB; None: not known."""
        return None

    def send_messages(self) -> None:
        """Send what is left to send, before the process ends by itself."""
