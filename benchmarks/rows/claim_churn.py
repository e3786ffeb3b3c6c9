"""Part of the row claim: its cost after many jobs ended during an old snapshot (of a report, for example).

Vacuum cannot remove their dead rows, which lie at the head of every lane.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

from benchmarks import fill, finishing, steady

CHURNED = 200_000  # jobs
BAR = 3  # dead entries are skipped one by one
BATCH = 2_000  # claimed in one pass, finished in one transaction

BEFORE, AFTER = "before a held snapshot", f"after {CHURNED:,} jobs under it"
TENANTS, LEFT = 10, 10_000


def measure() -> dict[str, float]:
    """Milliseconds before and after, the snapshot still held."""
    fill.waiting(fill.tenants(TENANTS, slots=BATCH // TENANTS), CHURNED + LEFT)
    before = steady.cost()
    with _snapshot():
        done = 0
        while done < CHURNED:
            claimed = steady.claim_all(BATCH)
            finishing.finish_all(claimed)
            done += len(claimed)
        return {BEFORE: before, AFTER: steady.cost()}


@contextmanager
def _snapshot() -> Iterator[None]:
    with psycopg.connect(**connection.get_connection_params()) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT count(*) FROM queues")
        yield
        reader.rollback()
