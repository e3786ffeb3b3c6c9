"""A thousand bodies that only wait: how many are under way at once, how soon, and in how much memory?"""

import time

from ..bell import START
from ..scene import Figures, Scene

WORDS = (
    "Ten tenants with 100 slots each submit 100 jobs of 20 s at once; two workers are asked for 500 bodies each. A "
    "queue with a process for each body is asked for as many as its adapter says make sense. The figures are those "
    "after ten seconds, or a second after all are under way."
)
WORKERS, AT_ONCE, SLOTS = 2, 500, 100
TENANTS, JOBS, SECONDS = [f"tenant{n}" for n in range(10)], 100, 20.0
PATIENCE, SETTLE = 10.0, 1.0  # seconds
THOUSAND = 1000


def play(scene: Scene) -> Figures:
    scene.setup(dict.fromkeys(TENANTS, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    before, since = scene.memory(), time.monotonic()
    meter = scene.meter()
    for tenant in TENANTS:
        scene.fill(tenant, [SECONDS] * JOBS)
    stored = time.monotonic()
    scene.wait(lambda: scene.running() == len(scene.jobs), PATIENCE)
    time.sleep(SETTLE)
    starts = [ring.moment for ring in scene.rings if ring.event == START]
    there, memory = scene.running(), scene.memory()
    return {
        **scene.bounds(),
        "in_flight": there,
        "stored_s": stored - since,
        "all_s": max(starts) - since if there == len(scene.jobs) else None,
        "cpu_ms_per_start": (meter.read()["cpu_ms_per_s"] or 0.0) * (time.monotonic() - since) / max(1, len(starts)),
        "memory_mib": memory,
        "memory_mib_per_1000": memory / there * THOUSAND if there else None,
        "more_mib_per_1000": (memory - before) / there * THOUSAND if there else None,
        **scene.connections(),
    }
