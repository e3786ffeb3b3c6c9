"""This project, through its public interface and with its own workers."""

from typing import Any

from benchmarks import fill
from benchmarks.contenders.contender import PROCESSES, SLOTS, TENANTS, node, purge
from benchmarks.public.scenarios import Arrival
from embedded import fleet

BATCH = 5_000  # jobs in one statement


class Ours:
    name = "ours"

    def prepare(self, tenants: int = TENANTS, slots: int = SLOTS, weights: list[int] | None = None) -> None:
        from benchmarks.workload.models import Thing
        from jobs.worker.message import run_attempt

        purge(run_attempt.app, fill.POOL)
        self.tenants = fill.tenants(tenants, slots=slots, weights=weights)
        self.things = Thing.objects.bulk_create(Thing(tenant=tenant) for tenant in self.tenants)

    def submit(self, n: int) -> None:
        self.things[n % len(self.things)].async_.echo(n)

    def fill(self, count: int, first: int = 0) -> None:
        self.store("echo", range(first, first + count))

    def store(self, method: str, numbers: range, timeout: float | None = None, **arguments: Any) -> list[int]:
        """Submit a job of a method for each number, for the tenants in turn; return their ids."""
        from jobs import async_, submit_many

        options = {} if timeout is None else {"timeout": timeout}
        calls = [async_(getattr(thing, method), **options) for thing in self.things]
        ids: list[int] = []
        for begin in range(0, len(numbers), BATCH):
            batch = numbers[begin : begin + BATCH]
            ids += submit_many(calls[n % len(calls)].request(n, **arguments) for n in batch)
        return ids

    def open(self, tenants: int, slots: int) -> None:
        from jobs import dispatch_in_background

        self.prepare(tenants, slots)
        dispatch_in_background()  # as a web process does: these scenarios submit from several threads

    def put(self, n: int, arrival: Arrival) -> None:
        thing = self.things[arrival.tenant]
        thing.async_.work(tenant=arrival.tenant, n=n, seconds=arrival.seconds, payload="x" * arrival.payload)

    def crew(self, workers: int) -> fleet.Command:
        return self.worker(workers)

    def begin(self) -> None:
        """Nothing to do: the worker dispatches when it registers."""

    def worker(self, processes: int = PROCESSES) -> fleet.Command:
        return fleet.worker(fill.POOL, processes, node("bench-ours"))
