"""A limit falls and rises while jobs run: how soon does it hold, and is it ever exceeded?"""

import time

from ..bell import START
from ..peers import NotOffered
from ..scene import Figures, Scene

WORDS = (
    "Four tenants with 2, 3, 4 and 8 slots have jobs of 0.3 s waiting; sixteen bodies may run at once. After a third "
    "of the time the limit of 8 falls to 2, after two thirds it rises to 6. A body that starts more than a second "
    "after the change counts against the new limit."
)
WORKERS, AT_ONCE = 2, 8
TENANTS = {"two": 2, "three": 3, "four": 4, "eight": 8}
CHANGED, LOWER, HIGHER = "eight", 2, 6
SECONDS, BACKLOG, THIRD = 0.3, 200, 3.5  # of a body; jobs of a tenant; seconds


def play(scene: Scene) -> Figures:
    scene.setup(TENANTS)
    scene.start(WORKERS, AT_ONCE)
    for tenant in TENANTS:
        scene.fill(tenant, [SECONDS] * BACKLOG)
    meter = scene.meter()
    third = THIRD * scene.scale
    time.sleep(third)
    lowered = _change(scene, LOWER, third)
    raised = _change(scene, HIGHER, third)
    return {**scene.bounds(), "lowered_s": lowered, "raised_s": raised, **meter.read()}


def _change(scene: Scene, slots: int, patience: float) -> float | None:
    """Seconds from the change until a lower limit holds for good, or until as many run as a higher one allows.

    It is all the time if that never comes, and None if the queue has no such verb.
    """
    before = scene.limits.last(CHANGED)
    try:
        since = scene.limit(CHANGED, slots)
    except NotOffered:
        time.sleep(patience)
        return None
    time.sleep(patience)
    running, beyond, reached = 0, since, since + patience
    for ring in scene.rings:
        if ring.tenant == CHANGED:
            if running > slots and ring.moment > since:
                beyond = ring.moment  # until now
            running += 1 if ring.event == START else -1
            if running >= slots and ring.moment > since:
                reached = min(reached, ring.moment)
    if slots > before:
        return reached - since
    return patience if running > slots else beyond - since
