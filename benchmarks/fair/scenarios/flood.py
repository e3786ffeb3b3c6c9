"""One tenant floods: how long do the others wait, and does its limit hold?"""

import random
import time

from ..bystander import Bystander
from ..scene import Figures, Scene

WORDS = (
    "One tenant has 1,500 jobs waiting and adds 50 a second; nine quiet ones submit one each second. Ten bodies run at "
    "once, at most eight of a tenant. Bodies take 50 to 150 ms."
)
WORKERS, AT_ONCE, SLOTS = 2, 5, 8
NOISY, QUIET = "noisy", [f"quiet{n}" for n in range(1, 10)]
BACKLOG, ADDED, WINDOW = 1500, 50, 8.0  # jobs; jobs a second; seconds
SHORTEST, LONGEST = 0.05, 0.15  # seconds of a body
LATE = 1.0  # seconds for the last quiet jobs to begin


def play(scene: Scene) -> Figures:
    draw = random.Random(1)  # noqa: S311
    scene.setup({NOISY: SLOTS, **dict.fromkeys(QUIET, SLOTS)})
    scene.start(WORKERS, AT_ONCE)
    scene.fill(NOISY, [draw.uniform(SHORTEST, LONGEST) for _ in range(BACKLOG)])
    arrivals: list[tuple[float, str, list[float]]] = []
    for second in range(max(1, int(WINDOW * scene.scale))):
        arrivals.append((second, NOISY, [draw.uniform(SHORTEST, LONGEST) for _ in range(ADDED)]))
        arrivals += [(second + draw.random(), tenant, [draw.uniform(SHORTEST, LONGEST)]) for tenant in QUIET]
    with Bystander(scene.urls["postgresql"]) as bystander:
        meter = scene.meter()
        scene.pace(sorted(arrivals), time.monotonic())
        time.sleep(LATE)
        used = meter.read()
    waits = scene.wait_figures([job for job in scene.jobs.values() if job.tenant != NOISY], time.monotonic())
    there = {"memory_mib": scene.memory(), **scene.connections()}
    return {**scene.bounds(), **waits, **used, **bystander.figures(), **there}
