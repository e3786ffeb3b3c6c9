"""claim: the cost of `store.claim` for one job, with various backlogs, histories and snapshots.

Before each claim one job ends, so as many jobs begin as end. Each scenario starts with empty tables.
"""

from pathlib import Path

from benchmarks import POOL, databases, fill, steady
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.seed import Seed
from benchmarks.rows import claim_churn, claim_seed
from jobs.models import Queue

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SEED_SIZES = SIZES[:3]  # enough to see that its cost grows with them
TENANTS, SLOTS, MOST_SLOTS = 10, 20, 10_000
CROWDS, FULL = (10, 100, 1_000, 10_000), 200
HISTORY, USERS = 1_000_000, 100_000
QUEUES = (1, 500)

WAITING = [f"{size:,} waiting" for size in SIZES]
ARRIVED = {WAITING[place]: f"{SIZES[place]:,} just arrived" for place in (0, -1)}  # not analysed yet
FRESH = f"{SIZES[-1]:,}, fresh statistics"
CROWD = [f"{size:,} + {FULL} full tenants" for size in CROWDS]
SLOTTED, ENDED = f"{MOST_SLOTS:,} slots each", f"{HISTORY:,} finished"
ONE_USER, ALL_USERS = f"{USERS:,} of one user", f"{USERS:,} of as many users"
OF_QUEUES = [f"work in {count:,} queues" for count in QUEUES]
BEFORE, AFTER = claim_churn.BEFORE, claim_churn.AFTER

BARS = [
    Bar(of=(WAITING[-1], "ours"), to=(WAITING[0], "ours"), at_most=1.5),
    Bar(of=(ARRIVED[WAITING[-1]], "ours"), to=(ARRIVED[WAITING[0]], "ours"), at_most=1.5),
    Bar(of=(FRESH, "ours"), to=(WAITING[0], "ours"), at_most=1.5),
    Bar(of=(WAITING[0], "ours"), to=(WAITING[0], "seed"), at_most=1.8),
    Bar(of=(CROWD[-1], "ours"), to=(CROWD[0], "ours"), at_most=2),
    Bar(of=(SLOTTED, "ours"), to=(WAITING[0], "ours"), at_most=1.2),
    Bar(of=(ENDED, "ours"), to=(WAITING[0], "ours"), at_most=1.2),
    Bar(of=(ALL_USERS, "ours"), to=(ONE_USER, "ours"), at_most=2),
    Bar(of=(OF_QUEUES[-1], "ours"), to=(OF_QUEUES[0], "ours"), at_most=2),
    Bar(of=(AFTER, "ours"), to=(BEFORE, "ours"), at_most=claim_churn.BAR),
]


def measure(directory: Path) -> Figures:
    """Milliseconds, medians."""
    figures: Figures = {}
    for scenario in (_backlogs, _history, _slots, _users, _queues, claim_churn.measure, _crowds):
        databases.empty()
        figures |= {what: {"ours": cost} for what, cost in scenario().items()}
    for what, line in claim_seed.measure(Seed(), SEED_SIZES).items():
        figures.setdefault(what, {}).update(line)
    return figures


def _backlogs() -> dict[str, float]:
    _leave_stale_statistics()
    costs = {}
    for size, what in zip(SIZES, WAITING, strict=True):
        databases.empty()
        fill.arriving(fill.tenants(TENANTS, slots=SLOTS), size)
        if what in ARRIVED:
            costs[ARRIVED[what]] = steady.cost()
        fill.vacuum()
        costs[what] = steady.cost()
    fill.vacuum(everything=True)
    costs[FRESH] = steady.cost()
    return costs


def _leave_stale_statistics() -> None:
    """Leave stale statistics of the small tables: on PostgreSQL 15 they once gave the claim a bad plan."""
    fill.waiting(fill.tenants(TENANTS, slots=SLOTS), SIZES[0])
    steady.cost()
    fill.vacuum(everything=True)


def _history() -> dict[str, float]:
    tenants = fill.tenants(TENANTS, slots=SLOTS)
    fill.finished(tenants, HISTORY)
    fill.waiting(tenants, SIZES[0])
    return {ENDED: steady.cost()}


def _slots() -> dict[str, float]:
    fill.waiting(fill.tenants(TENANTS, slots=MOST_SLOTS), SIZES[0])
    return {SLOTTED: steady.cost()}


def _queues() -> dict[str, float]:
    """Each tenant has work in each queue."""
    costs, there = {}, 1
    tenants = fill.tenants(TENANTS, slots=SLOTS)
    fill.arriving(tenants, SIZES[0])
    for count, what in zip(QUEUES, OF_QUEUES, strict=True):
        for queue in Queue.objects.bulk_create(Queue(name=f"q{n}", pool=POOL) for n in range(there, count)):
            fill.arriving(tenants, 10 * TENANTS, queue=queue.name)
        fill.vacuum()
        there = count
        costs[what] = steady.cost()
    return costs


def _crowds() -> dict[str, float]:
    full = fill.tenants(FULL, slots=1)
    fill.waiting(full, 10 * FULL)
    steady.claim_all(FULL)
    costs, there = {}, 0
    for size, what in zip(CROWDS, CROWD, strict=True):
        added = fill.tenants(size - there, slots=SLOTS)
        fill.waiting(added, max(10 * len(added), SIZES[0]))
        there = size
        costs[what] = steady.cost(occupied=FULL)
    return costs


def _users() -> dict[str, float]:
    costs = {}
    for what, users in ((ONE_USER, 1), (ALL_USERS, USERS)):
        databases.empty()
        fill.waiting(fill.tenants(1, slots=SLOTS), USERS, users=users)
        costs[what] = steady.cost()
    return costs
