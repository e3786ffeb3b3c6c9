"""Read once how tenants, queues and workers stand now: for commands, admin, API and the metrics of tenants."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from jobs import store
from jobs.reading.looking import Worker, look_lanes, look_queues, look_slots, look_tenants, look_workers, looking
from jobs.reading.standing import QueueStanding, TenantStanding, of_queues, of_tenants

PATIENCE = 60.0  # seconds for one statement: all lanes of 10,000 tenants take three


def tenants(
    ids: Collection[int], now: datetime | None = None, *, seconds: float = PATIENCE
) -> dict[int, TenantStanding]:
    """Return the standing of the tenants with these ids that exist, by id.

    seconds: the time after which a statement gives up, with OperationalError.
    """
    with looking(seconds):
        lanes, queues, tenants = look_lanes(tenants=ids), look_queues(), look_tenants(ids)
        standings = of_tenants(tenants.values(), lanes, queues, now or store.database_now())
    return {standing.tenant.id: standing for standing in standings}


def queues() -> dict[int, QueueStanding]:
    """Return the standing of all queues, by id in the order of their names."""
    with looking(PATIENCE):
        return of_queues(look_lanes(), look_queues())


def workers() -> list[tuple[Worker, int]]:
    """Return the workers that `look_workers` finds, each with the number of jobs that it runs."""
    with looking(PATIENCE):
        runs = Counter[UUID | None]()
        for slots in look_slots():
            runs[slots.worker] += slots.slots
        return [(worker, runs[worker.id]) for worker in look_workers()]
