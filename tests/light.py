"""Jobs of a light pool, and trips for the seats of its workers; the workers are rows."""

import uuid
from collections.abc import Sequence
from typing import Any

from jobs import store
from jobs.store import Started, Success, Trip
from tenants.models import Tenant
from tests.conftest import request_for
from tests.factories import QueueFactory


def submit(tenant: Tenant, jobs: int, **options: Any) -> list[int]:
    """So many jobs of a tenant; their numbers."""
    QueueFactory(name=options.get("queue", "default"))
    return [answer.id for answer in store.insert([request_for(tenant, n, **options) for n in range(jobs)])]


def trip(worker: uuid.UUID, pool: str = "default", **what: Any) -> Trip:
    made = Trip(worker, pool, **what)
    made.make()
    return made


def begin(worker: uuid.UUID, seats: Sequence[int] = (7, 7, 8, 8)) -> list[Started]:
    """What the feeder of that worker has claimed for these seats, in the order of the processes."""
    return trip(worker, free=seats, claims=True).started


def ends(jobs: Sequence[Started], *, goes_on: bool = False) -> list[Success]:
    return [Success(job, {"rows": 1}, goes_on=goes_on) for job in jobs]
