"""Look for full pools in which nothing has ended for unusually long."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobs.models import Total
from jobs.reading.statistics import added, percentile
from jobs.reading.waits import PoolDemand
from jobs.store.rows import rows

QUIET = 60.0  # seconds without an end that are always usual
LEAST_KNOWN = 20  # successes of a job type; its p95 is not known before


@dataclass(frozen=True)
class QuietPool:
    """A pool whose processes are all busy.

    seconds: for which nothing there has ended: a process that becomes free gets the next job, so no attempt that runs
        there has begun since the last end.
    usual: the longest p95, in seconds, of the job types that run there.
    """

    pool: PoolDemand
    seconds: float
    usual: float


def look_quiet(pools: Sequence[PoolDemand]) -> list[QuietPool]:
    """Return the full ones of these pools in which nothing has ended for QUIET seconds.

    Those that run a type whose p95 is not known are left out: what is usual for it is not known.
    """
    full = {pool.name: pool for pool in pools if 0 < pool.processes <= pool.in_use}
    if not full:
        return []
    quiet = rows("health_quiet", pools=[*full], quiet=QUIET)
    known = _known_p95({source_type for *_, types in quiet for source_type, _ in types}) if quiet else {}
    return [
        QuietPool(full[name], seconds, max(known[tuple(one)] for one in types))
        for name, seconds, types in quiet
        if all(tuple(one) in known for one in types)
    ]


def _known_p95(source_types: Collection[str]) -> dict[tuple[str, ...], float]:
    """Return the p95 of the successes of each job type of these source types in seconds, if it is known."""
    seen: dict[tuple[str, ...], list[Sequence[int]]] = defaultdict(list)
    for total in Total.objects.filter(source_type__in=source_types, outcome="success"):
        seen[total.source_type, total.source_method].append(total.run_buckets)
    buckets = {job_type: added(histograms) for job_type, histograms in seen.items()}
    found = {job_type: percentile(one, 0.95) for job_type, one in buckets.items() if sum(one) >= LEAST_KNOWN}
    return {job_type: p95 for job_type, p95 in found.items() if p95 is not None}
