"""This project with pools of both kinds in one installation; the light one has a queue of its own."""

from benchmarks.contenders.contender import PROCESSES, SLOTS, TENANTS, node
from benchmarks.contenders.ours import Ours
from embedded import fleet

LIGHT = "bench-light"  # the pool, and its queue
LIGHT_PROCESSES, SEATS = 2, 20  # of the light worker, and of each of its processes


class TwoKinds(Ours):
    """Ours, with a light pool beside the ordinary one."""

    name = "two kinds"

    def prepare(self, tenants: int = TENANTS, slots: int = SLOTS, weights: list[int] | None = None) -> None:
        from jobs.models import Pool, Queue

        super().prepare(tenants, slots, weights)
        Pool.objects.update_or_create(name=LIGHT, defaults={"kind": Pool.Kind.LIGHT, "seats": SEATS})
        Queue.objects.update_or_create(name=LIGHT, defaults={"pool": LIGHT})

    def workers(self, processes: int = PROCESSES) -> list[fleet.Command]:
        """The ordinary worker, with so many processes, and the light one."""
        return [self.worker(processes), fleet.worker(LIGHT, LIGHT_PROCESSES, node("bench-light"))]
