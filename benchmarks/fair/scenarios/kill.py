"""Both workers are killed in turn: is a job lost, or a limit exceeded, and how soon is all done?"""

import random
import time
from collections import Counter

from .. import history
from ..scene import Figures, Scene

WORDS = (
    "Four tenants with three slots each have 75 jobs of 0.2 to 0.4 s; ten bodies run at once. After 2 s and after 5 s "
    "a worker is killed (SIGKILL, with all its processes); a second later another one starts. 45 seconds after the "
    "last start what has not ended counts as unfinished."
)
WORKERS, AT_ONCE, SLOTS = 2, 5, 3
TENANTS, JOBS = [f"tenant{n}" for n in range(4)], 75
SHORTEST, LONGEST = 0.2, 0.4  # seconds of a body
KILLS, DOWN, PATIENCE = (2.0, 5.0), 1.0, 45.0  # seconds


def play(scene: Scene) -> Figures:
    draw = random.Random(1)  # noqa: S311
    scene.setup(dict.fromkeys(TENANTS, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    for tenant in TENANTS:
        scene.fill(tenant, [draw.uniform(SHORTEST, LONGEST) for _ in range(JOBS)])
    since = time.monotonic()
    for worker, at in zip(list(scene.workers), KILLS, strict=True):
        time.sleep(max(0.0, since + at - time.monotonic()))
        worker.kill()
        time.sleep(DOWN)
        scene.more(scene.asked_at_once // WORKERS)
    scene.wait(lambda: len(_ended(scene)) == len(scene.jobs), PATIENCE)
    runs = scene.runs()
    cut = [run for run in runs if run.cut]
    again = [  # the next start of each run that was cut off
        min((later.start for later in runs if later.id == run.id and later.start > run.end), default=None)
        for run in cut
    ]
    ended = _ended(scene)
    done = len(ended) == len(scene.jobs)
    last = max((run.end for run in runs if not run.cut and run.end < history.inf), default=since)
    return {
        **scene.bounds(),
        "cut": len(cut),
        "again_s": max(start - run.end for run, start in zip(cut, again, strict=True)) if cut and all(again) else None,
        "unfinished": len(scene.jobs) - len(ended),
        "ended_twice": sum(times - 1 for times in ended.values()),
        "twice_at_once": history.twice_at_once(runs),
        "left": scene.peer.count(),
        "lasted_s": last - since if done else None,
    }


def _ended(scene: Scene) -> Counter[int]:
    """How often each job has run to its end."""
    return Counter(run.id for run in scene.runs() if run.end < history.inf and not run.cut)
