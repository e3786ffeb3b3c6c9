"""Pools in which nothing ends: all that run in them have run for much longer than such jobs usually take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.models import Total
from jobs.reading.statistics import added, percentile
from jobs.reading.waits import PoolDemand
from jobs.store.rows import rows
from plumbing.text import duration

QUIET = 60.0  # seconds without an end that are always usual
UNUSUAL = 5  # times the p95 of the job types that run there
LEAST_KNOWN = 20  # successes of a job type; its p95 is not known before
Type = tuple[str, str]  # a job type: its source type and its method


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
    found: list[QuietPool] = []
    for name, seconds, types in rows("health_quiet", pools=[*full], quiet=QUIET):
        usual = [_p95(source_type, source_method) for source_type, source_method in types]
        known = [p95 for p95 in usual if p95 is not None]
        if len(known) == len(usual):
            found.append(QuietPool(full[name], seconds, max(known)))
    return found


def nothing_ends(quiet: Sequence[QuietPool]) -> Iterator[str]:
    """Yield a sentence for each pool in which that is unusual."""
    for one in quiet:
        if one.seconds > UNUSUAL * one.usual:
            busy = f"its only {one.pool.unit} is" if one.pool.processes == 1 else f"all its {one.pool.units} are"
            yield (
                f"Nothing has ended in pool {one.pool.name} for {duration(one.seconds)}: {busy} busy with jobs of "
                f"which 95 of 100 take no more than {duration(one.usual)}."
            )


def _p95(source_type: str, source_method: str) -> float | None:
    """Return the p95 of the successes of a job type in seconds; None if it is not known."""
    succeeded = Total.objects.filter(source_type=source_type, source_method=source_method, outcome="success")
    buckets = added(succeeded.values_list("run_buckets", flat=True))
    return percentile(buckets, 0.95) if sum(buckets) >= LEAST_KNOWN else None
