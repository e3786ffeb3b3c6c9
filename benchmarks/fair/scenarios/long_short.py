"""One tenant has long jobs: how long do the short ones of others wait?"""

import random
import time

from ..scene import Figures, Scene

WORDS = (
    "One tenant has 60 jobs of 4 s waiting; four others submit four jobs of 50 ms each second. Ten bodies run at once, "
    "at most eight of a tenant."
)
WORKERS, AT_ONCE, SLOTS = 2, 5, 8
LONG, SHORT = "long", [f"short{n}" for n in range(1, 5)]
LONG_JOBS, LONG_SECONDS, SECONDS, RATE, WINDOW = 60, 4.0, 0.05, 4, 8.0
LATE = 1.0  # seconds for the last short jobs to begin


def play(scene: Scene) -> Figures:
    draw = random.Random(1)  # noqa: S311
    scene.setup(dict.fromkeys([LONG, *SHORT], SLOTS))
    scene.start(WORKERS, AT_ONCE)
    scene.fill(LONG, [LONG_SECONDS] * LONG_JOBS)
    window = max(1, int(WINDOW * scene.scale))
    arrivals = [
        (second + draw.random(), tenant, [SECONDS]) for second in range(window) for tenant in SHORT for _ in range(RATE)
    ]
    meter = scene.meter()
    scene.pace(sorted(arrivals), time.monotonic())
    time.sleep(LATE)
    used = meter.read()
    waits = scene.wait_figures([job for job in scene.jobs.values() if job.tenant != LONG], time.monotonic())
    return {**scene.bounds(), **waits, **used}
