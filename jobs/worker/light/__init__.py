"""A worker of a light pool: the feeder in its parent, and its processes, each with many seats."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from jobs.models import Pool
from jobs.worker.light.rounds import Rounds
from jobs.worker.light.wire import Listener


@dataclass(eq=False)
class LightPool:
    """What the parent of a light worker knows of its pool, and its processes too. It is made before the pool forks.

    seats: of each process.
    threads: whether bodies without `async` run in threads.
    processes: their number when the worker starts.
    called: attempts of messages, for the feeder: of a dispatch that took the pool for an ordinary one, or of a repair.
    wake: wakes the feeder.
    database_wait: returns the longest wait of a body for a database thread since the last call, in seconds.
    """

    seats: int
    processes: int
    rounds: Rounds
    threads: bool = False
    listener: Listener = field(default_factory=Listener)
    called: deque[tuple[int, int]] = field(default_factory=deque)
    wake: Callable[[], object] = lambda: None
    database_wait: Callable[[], float] = lambda: 0.0

    def call(self, job_id: int, attempt: int) -> None:
        """Give the attempt of a message to the feeder."""
        self.called.append((job_id, attempt))
        self.wake()


_pool: LightPool | None = None


def of_this_worker() -> LightPool | None:
    """Return the light pool of this worker; None if its pool is ordinary."""
    return _pool


def become_light(row: Pool, processes: int) -> None:
    """Make this worker one of a light pool, in its parent, before it forks.

    row: of the pool.
    """
    global _pool  # noqa: PLW0603 - of this worker, as WORKER_ID is
    _pool = LightPool(row.seats, processes, Rounds(processes + 1), row.threads)  # one more process for suspects
