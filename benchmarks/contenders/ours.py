"""This project, through its public interface and with its own workers."""

from typing import TYPE_CHECKING, Any

from benchmarks import fill, mix
from benchmarks.contenders.contender import PROCESSES, SLOTS, TENANTS, node, purge
from benchmarks.public.scenarios import Arrival
from embedded import fleet

if TYPE_CHECKING:
    from benchmarks.workload.models import Thing
    from jobs.calls.request import JobRequest
    from jobs.engine.submitting.proxy import Call

BATCH = 5_000  # jobs in one statement


class Ours:
    """mixed: whether it has the queues, the limits and the failures of `benchmarks.mix`."""

    name = "ours"

    def __init__(self, *, mixed: bool = False) -> None:
        self.mixed = mixed

    def prepare(self, tenants: int = TENANTS, slots: int = SLOTS, weights: list[int] | None = None) -> None:
        from benchmarks.workload.models import Thing
        from jobs.models import Pool
        from jobs.worker.message import run_attempt

        Pool.objects.filter(name__in=self.pools).delete()  # a light pool of an earlier side
        for pool in self.pools:
            purge(run_attempt.app, pool)
        self._calls: dict[tuple[object, ...], Call[...]] = {}
        self.tenants = fill.tenants(tenants, slots=slots, weights=weights)
        self.things = Thing.objects.bulk_create(Thing(tenant=tenant) for tenant in self.tenants)
        if self.mixed:
            mix.prepare(self.tenants, slots)

    @property
    def pools(self) -> list[str]:
        return list(mix.POOLS) if self.mixed else [fill.POOL]

    def submit(self, n: int) -> None:
        self.things[n % len(self.things)].async_.echo(n)

    def fill(self, count: int, first: int = 0) -> None:
        self.store("echo", range(first, first + count))

    def store(self, method: str, numbers: range, timeout: float | None = None, **arguments: Any) -> list[int]:
        """Submit a job of a method for each number, for the tenants in turn; return their ids."""
        from jobs import submit_many

        many = len(self.things)
        ids: list[int] = []
        for begin in range(0, len(numbers), BATCH):
            batch = numbers[begin : begin + BATCH]
            ids += submit_many(
                self.request(self.things[n % many], method, n, turn=n // many, timeout=timeout, **arguments)
                for n in batch
            )
        return ids

    def request(
        self, thing: "Thing", method: str, n: int, *, turn: int, timeout: float | None = None, **arguments: Any
    ) -> "JobRequest":
        """Return the job of a tenant's turn, whose body rings n, to be submitted."""
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        if self.mixed:
            options |= mix.options(turn)
            arguments |= mix.arguments(turn)
        return self._call(thing, method, options).request(n, **arguments)

    def _call(self, thing: "Thing", method: str, options: dict[str, Any]) -> "Call[...]":
        from jobs import async_

        key = (thing.pk, method, *options.items())
        if key not in self._calls:  # one for each job would add a third to what a request takes
            self._calls[key] = async_(getattr(thing, method), **options)
        return self._calls[key]

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

    def workers(self, processes: int = PROCESSES) -> list[fleet.Command]:
        """A worker of each pool, with so many processes together."""
        return [fleet.worker(pool, processes // len(self.pools), node(f"ours-{pool}")) for pool in self.pools]
