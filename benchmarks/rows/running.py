"""running: the cost of `store.claim` for one job while others run: few or many, of many tenants or of one.

Before each claim a job ends that ran for milliseconds; the others run on. Each scenario starts with empty tables.
"""

import json
from pathlib import Path

from django.db import connection, transaction

from benchmarks import databases, fill, finishing, steady
from benchmarks.bars import Bar, Figures
from benchmarks.rows import running_lanes

TENANTS = {8: 10, 100: 10, 1_000: 100, 4_000: 400, 10_000: 1_000}  # by jobs running
SLOTS = 20  # of each
OF_ONE = (1_000, 5_000)  # jobs running of the only tenant, which has slots enough
WAITING = 1_000  # jobs, or ten of each tenant

RUNNING = {count: f"{count:,} running" for count in TENANTS}
ONE = {count: f"{count:,} running, of one tenant" for count in OF_ONE}
NODES, LANES = "plan nodes of the claim", running_lanes.LANES

PREPARED = "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements WHERE statement LIKE '-- claim%'"

BARS = [
    Bar(of=(RUNNING[10_000], "ours"), to=(RUNNING[8], "ours"), at_most=1.3),
    Bar(of=(ONE[5_000], "ours"), to=(RUNNING[8], "ours"), at_most=1.3),
    Bar(of=(NODES, "ours"), at_most=140),
    Bar(of=(LANES, "ours"), at_most=5),
]


def measure(directory: Path) -> Figures:
    """Milliseconds, medians; then the size of the plan and of the walk."""
    figures = {what: _cost(count, TENANTS[count], SLOTS) for count, what in RUNNING.items()}
    figures[NODES] = _nodes()
    figures |= {what: _cost(count, 1, count + SLOTS) for count, what in ONE.items()}
    databases.empty()
    figures |= running_lanes.measure()
    return {what: {"ours": value} for what, value in figures.items()}


def _cost(running: int, tenants: int, slots: int) -> float:
    """A claim that does not come to an end counts as the time after which it was given up."""
    databases.empty()
    made = fill.tenants(tenants, slots=slots)
    fill.waiting(made, max(WAITING, 10 * tenants))
    occupied = running - steady.PROCESSES
    if occupied:
        fill.running(made, occupied, worker=finishing.WORKER)
    try:
        return steady.cost(occupied=occupied)
    except TimeoutError:
        return steady.PATIENCE * 1000


def _nodes() -> float:
    """Of the plan that this session has just used."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(PREPARED)
        name, parameters = cursor.fetchone()
        nulls = ", ".join(["NULL"] * parameters)
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {connection.ops.quote_name(name)} ({nulls})")
        (plan,) = cursor.fetchone()
    return _count((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])


def _count(node: dict) -> int:
    return 1 + sum(map(_count, node.get("Plans", [])))
