"""Part of the row running: how many lanes a decision visits while all tenants have jobs waiting.

A simulation with the real statements: they take the time as a parameter, so jobs of seconds end one after the other,
whatever the machine has to do. Each job that ends is followed by one decision.
"""

import heapq
import time
from datetime import datetime, timedelta
from random import Random

from django.db import connection
from django.utils import timezone

from benchmarks import fill, finishing
from jobs import store
from jobs.models import Job
from tests.clock import call_at

TENANTS, SLOTS, EACH = 1_000, 20, 20  # EACH: jobs waiting of each tenant
PROCESSES = 1_000
SHORTEST, LONGEST = 1.0, 10.0  # seconds of a job
WARM, COUNT = 1_000, 1_000  # decisions
PATIENCE = 25.0  # seconds for the warm-up, and for the rest

LANES = "lanes visited per decision"

# What the walk got from its index; the session tells PostgreSQL's statistics before it asks.
VISITED = "SELECT idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelname = 'lanes_circle'"


def measure() -> dict[str, float]:
    """The mean, after a warm-up in which most processes have ended a job."""
    tenants = fill.tenants(TENANTS, slots=SLOTS)
    fill.waiting(tenants, EACH * TENANTS)
    fill.running(tenants, PROCESSES, worker=finishing.WORKER, over=LONGEST)
    finishing.register(PROCESSES)
    fleet = _Fleet()
    fleet.decide(WARM)
    visited = _visited()
    decided = fleet.decide(COUNT)
    return {LANES: (_visited() - visited) / decided}


class _Fleet:
    """The processes, in a time of their own."""

    def __init__(self) -> None:
        self._chance = Random(1)  # noqa: S311 - the same in every run
        self._now = timezone.now()
        running = Job.objects.filter(slot__isnull=False).values_list("id", "attempt")
        self._ends = [(self._after(self._chance.uniform(0, LONGEST)), *job) for job in running]
        heapq.heapify(self._ends)

    def decide(self, count: int) -> int:
        """End one job after the other, and fill the free process; the number of decisions until PATIENCE is over."""
        give_up, decided = time.monotonic() + PATIENCE, 0
        while decided < count and time.monotonic() < give_up:
            self._now, job_id, attempt = heapq.heappop(self._ends)
            call_at(self._now, store.succeed, job_id, attempt, {}, None)
            decided += self._fill(give_up)
        if not decided:
            raise AssertionError("Nothing was decided.")
        return decided

    def _fill(self, give_up: float) -> int:
        claimed = call_at(self._now, store.claim)
        while not claimed and claimed.more and time.monotonic() < give_up:
            claimed = call_at(self._now, store.claim)
        for job in claimed:
            call_at(self._now, store.start, job.id, job.attempt, store.Seat.here(finishing.WORKER))
            end = self._after(self._chance.uniform(SHORTEST, LONGEST))
            heapq.heappush(self._ends, (end, job.id, job.attempt))
        return len(claimed)

    def _after(self, seconds: float) -> datetime:
        return self._now + timedelta(seconds=seconds)


def _visited() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(VISITED)
        return cursor.fetchone()[0]
