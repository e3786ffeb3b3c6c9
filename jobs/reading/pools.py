"""Read the pools: what operators have set, what its live workers run with, and what is in use."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jobs import store
from jobs.models import Pool
from jobs.reading.looking import Queue, Worker, look_queues, look_workers, looking
from jobs.reading.present import PATIENCE


@dataclass(frozen=True)
class PoolView:
    """A pool.

    kind, seats, threads: as its row says; `seats` of each process.
    queues: the names of its queues.
    workers: the live ones.
    in_use: seats that have a job, or to which one is on its way.
    """

    name: str
    kind: str
    seats: int
    threads: bool
    queues: list[str]
    workers: list[Worker]
    in_use: int

    @cached_property
    def processes(self) -> int:
        return sum(worker.processes for worker in self.workers)

    @cached_property
    def capacity(self) -> int:
        """The seats of all live workers."""
        return sum(worker.concurrency for worker in self.workers)

    @cached_property
    def outdated(self) -> list[str]:
        """The names of the live workers that started before its row was changed, and must be restarted to follow it."""
        row = self.kind, self.seats, self.threads
        return [worker.name for worker in self.workers if (worker.kind, worker.seats, worker.threads) != row]

    @property
    def takes_plain(self) -> bool:
        """Return whether it runs bodies without `async`."""
        return self.threads or self.kind == Pool.Kind.ORDINARY

    @property
    def document(self) -> dict[str, Any]:
        """The pool, for a JSON document."""
        numbers = {"workers": len(self.workers), "processes": self.processes}
        use = {"in_use": self.in_use, "capacity": self.capacity, "outdated_workers": self.outdated}
        row = {"name": self.name, "kind": self.kind, "seats": self.seats, "threads": self.threads}
        return row | {"queues": self.queues} | numbers | use


def pools() -> dict[str, PoolView]:
    """Return the pools that have a row, a queue or a live worker, by name."""
    with looking(PATIENCE):
        queues, workers, now = look_queues(), look_workers(), store.database_now()
        rows = {pool.name: pool for pool in Pool.objects.all()}
    live = [worker for worker in workers if worker.is_live(now)]
    names = {*rows, *(queue.pool for queue in queues.values()), *(worker.pool for worker in live)}
    return {name: _view(name, rows.get(name), queues.values(), live) for name in sorted(names)}


def _view(name: str, row: Pool | None, queues: Iterable[Queue], live: Iterable[Worker]) -> PoolView:
    kind, seats, threads = (row.kind, row.seats, row.threads) if row else (Pool.Kind.ORDINARY, 1, False)
    its_queues = [queue for queue in queues if queue.pool == name]
    in_use = its_queues[0].pool_in_use if its_queues else 0  # each has the number of its pool
    workers = [worker for worker in live if worker.pool == name]
    return PoolView(name, str(kind), seats, threads, [queue.name for queue in its_queues], workers, in_use)
