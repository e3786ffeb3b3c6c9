"""Bound the work of a forecast: it takes a small part of the time that it predicts."""

from collections import defaultdict

from jobs.insight.forecasting.far_estimates import means
from jobs.insight.forecasting.runs import Runs
from jobs.insight.forecasting.snapshot import Snapshot

LEAST_STARTS, MOST_STARTS = 800, 6_000  # the bounds of the starts of a draw
PART = 50.0  # the draws of a forecast together take at most one part in so many of the time that the lines last
PRICE = 6e-5  # seconds that it takes to simulate a start
DEEP = 8  # the most jobs in line for each start of a draw, in all lines together


def starts(snapshot: Snapshot, runs: Runs, draws: int) -> int:
    """Return how many starts a draw simulates at most; fewer for lines that will soon be empty."""
    return int(min(max(_seconds(snapshot, runs) / (PART * PRICE * draws), LEAST_STARTS), MOST_STARTS))


def standing(snapshot: Snapshot, most_starts: int) -> int:
    """Return the most jobs that each line has in a draw; short lines leave room for long ones."""
    left, lines = DEEP * most_starts, sorted(snapshot.waiting.values())
    for n, waiting in enumerate(lines):
        share = left // (len(lines) - n)
        if waiting > share:
            return min(share, most_starts)
        left -= waiting
    return most_starts


def _seconds(snapshot: Snapshot, runs: Runs) -> float:
    """Estimate in how many seconds the lines are empty: from their jobs, and the limits of pools, tenants and rates."""
    books, mean = snapshot.books(), means(snapshot, runs)
    of_pool: dict[str, float] = defaultdict(float)
    longest = 0.0
    for (tenant_id, queue_id), waiting in snapshot.waiting.items():
        tenant, queue = books.tenants[tenant_id], books.queues[queue_id]
        work = waiting * mean.get((tenant_id, queue_id), 0.0)
        of_pool[queue.pool.name] += work / max(queue.pool.processes, 1)
        alone = work / max(tenant.num_slots or 0, 1)
        longest = max(longest, alone, waiting * max(queue.pause, tenant.pause))
    return max(longest, *of_pool.values(), 0.0)
