"""The figures of the scenarios: their names on the page, how they are written, and which direction is better."""

from collections.abc import Mapping
from typing import NamedTuple

LOWER, HIGHER, NEITHER = -1, 1, 0


class Figure(NamedTuple):
    """How a figure is shown.

    label: its column.
    better: LOWER, HIGHER or NEITHER.
    digits: behind the point.
    worst: whether of several runs the worst one is shown, as it counts what must not happen; else it is the median.
    """

    label: str
    better: int
    digits: int = 0
    worst: bool = False


FIGURES = {
    "violations": Figure("starts beyond a limit", LOWER, worst=True),
    "wait_p50_s": Figure("wait p50, s", LOWER, 3),
    "wait_p95_s": Figure("wait p95, s", LOWER, 3),
    "wait_p99_s": Figure("wait p99, s", LOWER, 3),
    "wait_worst_s": Figure("worst wait, s", LOWER, 2),
    "lowered_s": Figure("lower limit holds after, s", LOWER, 2),
    "raised_s": Figure("higher limit used after, s", LOWER, 2),
    "jain": Figure("Jain's index", HIGHER, 3),
    "busy": Figure("part of the time in bodies", HIGHER, 2),
    "least_s": Figure("least served, s", NEITHER, 1),
    "most_s": Figure("most served, s", NEITHER, 1),
    "dry": Figure("tenants that ran dry", LOWER, worst=True),
    "cut": Figure("runs cut off", NEITHER),
    "again_s": Figure("the last of them again after, s", LOWER, 1),
    "unfinished": Figure("unfinished", LOWER, worst=True),
    "ended_twice": Figure("ended twice", LOWER, worst=True),
    "twice_at_once": Figure("twice at once", LOWER, worst=True),
    "left": Figure("left in its tables", LOWER, worst=True),
    "lasted_s": Figure("all done after, s", LOWER, 1),
    "in_flight": Figure("under way at once", HIGHER),
    "stored_s": Figure("stored after, s", LOWER, 2),
    "all_s": Figure("all under way after, s", LOWER, 2),
    "cpu_ms_per_start": Figure("CPU per job, ms", LOWER, 1),
    "more_mib_per_1000": Figure("MiB more per 1,000", LOWER),
    "memory_mib_per_1000": Figure("MiB per 1,000", LOWER),
    "jobs_per_s": Figure("jobs/s", HIGHER, 1),
    "cpu_ms_per_job": Figure("CPU per job, ms", LOWER, 1),
    "cpu_ms_per_s": Figure("CPU per second, ms", LOWER, 1),
    "transactions_per_s": Figure("transactions/s", LOWER, 1),
    "bystander_p50_ms": Figure("bystander p50, ms", LOWER, 1),
    "bystander_p95_ms": Figure("bystander p95, ms", LOWER, 1),
    "memory_mib": Figure("memory of the workers, MiB", LOWER),
    "sessions": Figure("sessions", LOWER),
    "redis_connections": Figure("connections to Redis", LOWER),
    "setup_s": Figure("set up in, s", LOWER, 1),
}
SHOWN: Mapping[str, list[str]] = {
    "flood": [
        *("violations", "wait_p50_s", "wait_p95_s", "wait_p99_s", "wait_worst_s", "jobs_per_s", "cpu_ms_per_job"),
        *("bystander_p95_ms", "memory_mib", "sessions", "redis_connections"),
    ],
    "limits": ["violations", "lowered_s", "raised_s", "jobs_per_s", "cpu_ms_per_job"],
    "zipf": ["violations", "jain", "least_s", "most_s", "dry", "busy", "jobs_per_s", "cpu_ms_per_job"],
    "long_short": ["violations", "wait_p50_s", "wait_p95_s", "wait_p99_s", "wait_worst_s"],
    "kill": ["violations", "cut", "again_s", "unfinished", "ended_twice", "twice_at_once", "lasted_s"],
    "ten_thousand": [
        *("violations", "wait_p50_s", "wait_p95_s", "wait_p99_s", "jobs_per_s", "cpu_ms_per_job", "setup_s"),
    ],
    "idle": ["cpu_ms_per_s", "transactions_per_s", "memory_mib", "sessions", "redis_connections"],
    "waiting": [
        "violations",
        "in_flight",
        "all_s",
        "cpu_ms_per_start",
        "memory_mib_per_1000",
        "memory_mib",
        "sessions",
        "redis_connections",
    ],
    "snapshot": [
        *("violations", "first_wait_p95_s", "last_wait_p95_s", "first_wait_p99_s", "last_wait_p99_s"),
        *("first_cpu_ms_per_job", "last_cpu_ms_per_job", "last_jobs_per_s", "bystander_p95_ms"),
    ],
}


def known(name: str) -> Figure:
    """Return a figure; those of the first and the last part of a scenario are named after it."""
    part, _, rest = name.partition("_")
    if part in ("first", "last") and rest in FIGURES:
        return FIGURES[rest]._replace(label=f"{part} tenth: {FIGURES[rest].label}")
    return FIGURES[name]


def written(name: str, value: float | None) -> str:
    """Return a figure as it stands on the page."""
    return "–" if value is None else f"{value:,.{known(name).digits}f}"
