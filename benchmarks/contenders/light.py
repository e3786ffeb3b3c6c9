"""This project with a light pool: coroutines, and many seats in each of a few processes."""

from benchmarks import THOROUGH
from benchmarks.contenders.contender import PROCESSES, SLOTS, TENANTS
from benchmarks.contenders.ours import Ours
from benchmarks.public.scenarios import Arrival
from embedded import fleet

SEATS = 100  # of each process


class Light(Ours):
    """Ours, with its pools light ones, and with the bodies of the workload that are coroutines."""

    def __init__(self, tenants: int = TENANTS, slots: int = SLOTS, seats: int = SEATS) -> None:
        super().__init__(mixed=THOROUGH)
        self._tenants, self._slots, self._seats = tenants, slots, seats

    def prepare(self, tenants: int = 0, slots: int = 0, weights: list[int] | None = None) -> None:
        from jobs.models import Pool

        super().prepare(tenants or self._tenants, slots or self._slots, weights)
        for pool in self.pools:
            Pool.objects.update_or_create(name=pool, defaults={"kind": Pool.Kind.LIGHT, "seats": self._seats})

    def fill_with_nothing(self, count: int) -> None:
        self.store("anothing", range(count))


class LightSide(Light):
    """The same in the scenarios of a public benchmark: as many seats as the others have processes or coroutines."""

    name = "light"

    def put(self, n: int, arrival: Arrival) -> None:
        thing = self.things[arrival.tenant]
        thing.async_.awork(tenant=arrival.tenant, n=n, seconds=arrival.seconds, payload="x" * arrival.payload)

    def crew(self, workers: int) -> fleet.Command:
        """Two processes share the seats; with one seat there is one."""
        from jobs.models import Pool

        processes = min(PROCESSES, workers)
        Pool.objects.filter(name__in=self.pools).update(seats=workers // processes)
        return self.worker(processes)
