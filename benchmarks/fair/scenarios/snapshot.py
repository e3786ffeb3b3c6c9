"""A transaction is left open, so PostgreSQL cannot clean up: do jobs become dearer, and wait longer?"""

import time

import psycopg

from ..bystander import Bystander
from ..scene import Figures, Job, Scene

WORDS = (
    "40 jobs of 20 ms a second, of ten tenants in turn, while another session keeps a snapshot open, for ten minutes. "
    "The first and the last tenth of the time are compared."
)
LONG_WORDS = WORDS.replace("ten minutes", "120 minutes")
WORKERS, AT_ONCE, SLOTS = 2, 5, 5
TENANTS = [f"tenant{n}" for n in range(10)]
RATE, SECONDS, WINDOW, LONG_WINDOW = 40, 0.02, 600.0, 7200.0


def play(scene: Scene) -> Figures:
    window = (LONG_WINDOW if scene.long else WINDOW) * scene.scale
    scene.setup(dict.fromkeys(TENANTS, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    with psycopg.connect(scene.urls["postgresql"]) as pinned, Bystander(scene.urls["postgresql"]) as bystander:
        pinned.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        pinned.execute("SELECT 1")
        tenth, since = window / 10, time.monotonic()
        first = _part(scene, since, 0.0, tenth)
        _part(scene, since, tenth, window - tenth)
        last = _part(scene, since, window - tenth, window)
    figures = {f"first_{name}": value for name, value in first.items()}
    figures |= {f"last_{name}": value for name, value in last.items()}
    return {**scene.bounds(), **figures, **bystander.figures()}


def _part(scene: Scene, since: float, begin: float, end: float) -> Figures:
    """Submit in this part of the window, in seconds after `since`; its figures."""
    meter, before = scene.meter(), set(scene.jobs)
    numbers = range(int(begin * RATE), int(end * RATE))
    scene.pace(((n / RATE, TENANTS[n % len(TENANTS)], [SECONDS]) for n in numbers), since)
    used = meter.read()
    jobs: list[Job] = [job for id, job in scene.jobs.items() if id not in before]
    waits = scene.wait_figures(jobs, time.monotonic())
    return {
        "wait_p95_s": waits["wait_p95_s"],
        "wait_p99_s": waits["wait_p99_s"],
        "cpu_ms_per_job": used["cpu_ms_per_job"],
        "jobs_per_s": used["jobs_per_s"],
    }
