"""submit: submit jobs one by one and in bulk. The pool is full, so a dispatch finds that no job can start."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from django.db import connection, transaction

from benchmarks import databases, fill, finishing
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.contender import TENANTS, Contender
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from benchmarks.contenders.seed import Seed

JOBS, WARM = 1_000, 20
FEW, MANY = 10, 90_000  # jobs waiting; JOBS_MAX_WAITING is 100,000
TIMES = 200
BULK = 10_000  # jobs at once
FIRSTS = (100_000, 200_000, 300_000)  # numbers of the jobs of each bulk; jobs with equal numbers would be deduplicated

ONE = "one by one, with dispatch, /s"
AT_FEW, AT_MANY = f"ms without, {FEW} waiting", f"ms without, {MANY:,} waiting"
IN_BULK = "in bulk (seed: bare COPY), /s"

BARS = [
    Bar(of=(ONE, "ours"), to=(ONE, "seed"), at_least=0.6),
    Bar(of=(AT_MANY, "ours"), to=(AT_FEW, "ours"), at_most=1.2),
]


def measure(directory: Path) -> Figures:
    """Each contender in turn, then the measures that only ours has."""
    figures: Figures = {ONE: {}, AT_FEW: {}, AT_MANY: {}, IN_BULK: {}}
    ours = Ours()
    for contender in (ours, Plain(), Seed()):
        contender.prepare()
        finishing.register(1)
        figures[ONE][contender.name] = _one_by_one(contender)
    figures[IN_BULK]["ours"] = median(_rate(BULK, partial(ours.fill, BULK, first)) for first in FIRSTS)
    figures[IN_BULK]["seed"] = median(_rate(BULK, _copy) for _ in FIRSTS)
    databases.empty()
    ours.prepare()
    for line, waiting, first in ((AT_FEW, FEW, 0), (AT_MANY, MANY - FEW, WARM + TIMES)):
        fill.waiting(ours.tenants[:1], waiting)
        figures[line]["ours"] = median(_without_dispatch(ours, first + n) for n in range(WARM + TIMES)) * 1000
    return figures


def _one_by_one(contender: Contender) -> float:
    for n in range(WARM):
        contender.submit(n)
    return _rate(JOBS, lambda: [contender.submit(n) for n in range(WARM, WARM + JOBS)])


def _rate(count: int, work: Callable[[], object]) -> float:
    """Calls per second."""
    begun = time.perf_counter()
    work()
    return count / (time.perf_counter() - begun)


def _without_dispatch(ours: Ours, n: int) -> float:
    """Seconds of the call in its transaction, which is committed: after a rollback psycopg prepares all anew."""
    with transaction.atomic():
        begun = time.perf_counter()
        ours.submit(TENANTS * n)  # of the first tenant
        return time.perf_counter() - begun


def _copy() -> None:
    """Rows of the seed's table, as fast as PostgreSQL takes them."""
    connection.ensure_connection()
    with connection.connection.cursor().copy("COPY seed_jobs (tenant_id, args) FROM STDIN") as copy:
        for n in range(BULK):
            copy.write_row((n % TENANTS, f'{{"n": {n}}}'))
