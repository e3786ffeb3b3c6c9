"""Ten thousand tenants, few of which have work: what does their number cost?"""

import random
import time

from ..scene import Figures, Scene

WORDS = (
    "10,000 tenants with two slots each. One has 1,000 jobs of 20 ms waiting; 60 a second come, each of another "
    "tenant, drawn by chance. Ten bodies run at once."
)
WORKERS, AT_ONCE, SLOTS, TENANTS = 2, 5, 2, 10_000
BACKLOG, RATE, SECONDS, WINDOW = 1000, 60, 0.02, 8.0
LATE = 1.0  # seconds for the last jobs to begin
NOISY = "tenant0"


def play(scene: Scene) -> Figures:
    draw = random.Random(1)  # noqa: S311
    scene.setup({f"tenant{n}": SLOTS for n in range(TENANTS)})
    scene.start(WORKERS, AT_ONCE)
    scene.fill(NOISY, [SECONDS] * BACKLOG)
    arrivals = [
        (n / RATE, f"tenant{draw.randrange(1, TENANTS)}", [SECONDS]) for n in range(int(RATE * WINDOW * scene.scale))
    ]
    meter = scene.meter()
    scene.pace(arrivals, time.monotonic())
    time.sleep(LATE)
    used = meter.read()
    waits = scene.wait_figures([job for job in scene.jobs.values() if job.tenant != NOISY], time.monotonic())
    return {**scene.bounds(), **waits, **used, "memory_mib": scene.memory(), **scene.connections()}
