"""A worker is killed in each phase of its life: is a job lost, or a limit exceeded, and how soon is all done?"""

import random
import threading
import time
from collections import Counter
from typing import NamedTuple

from .. import history, usage
from ..bell import END, START
from ..peers import Worker
from ..scene import Figures, Scene

WORDS = (
    "Four tenants with three slots each submit 80 jobs of 0.2 to 0.4 s, five times; ten bodies run at once, in two "
    "workers. Each time one of the two is killed (SIGKILL, with all its processes): while it has nothing to do, just "
    "before the submits; as its first body starts; a second later; as its first body has ended; and 0.1 s after it was "
    "asked to stop (SIGTERM). A second later another one starts. 45 seconds after the last start, or as soon "
    "as the queue has no job left, what has not ended counts as unfinished."
)
WORKERS, AT_ONCE, SLOTS = 2, 5, 3
TENANTS, JOBS = [f"tenant{n}" for n in range(4)], 20  # jobs of a tenant each time
SHORTEST, LONGEST = 0.2, 0.4  # seconds of a body
DOWN, PATIENCE = 1.0, 45.0  # seconds


class Phase(NamedTuple):
    """When a worker is killed.

    event: of its first body.
    later: seconds after the event.
    stopping: seconds after a request to stop, which comes then; None: without it.
    """

    event: str
    later: float = 0.0
    stopping: float | None = None


PHASES = [
    Phase(START),
    Phase(START, later=1.0),
    Phase(END),
    Phase(START, later=1.0, stopping=0.1),
]  # behind the idle one
RINGS, LOOK = 5.0, 0.001  # seconds: until a body of the worker rings; between two looks for it
REST, LULL = 15.0, 0.5  # seconds: until no body runs, and for how long none shall


def play(scene: Scene) -> Figures:
    draw = random.Random(1)  # noqa: S311
    scene.setup(dict.fromkeys(TENANTS, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    since = time.monotonic()
    for place, phase in enumerate([None, *PHASES]):
        oldest = scene.workers[place]
        if phase is None:
            oldest.kill()
            _submit(scene, draw)
        else:
            killer = threading.Thread(target=_kill, args=[scene, oldest, phase])
            killer.start()  # before the submits, which may take longer than the first body
            _submit(scene, draw)
            killer.join()
        time.sleep(DOWN)
        scene.more(scene.asked_at_once // WORKERS)
        scene.wait(lambda: _rests(scene), REST)
    scene.wait(lambda: len(_ended(scene)) == len(scene.jobs) or _lost(scene), PATIENCE, every=LULL)
    return {**scene.bounds(), **_figures(scene, since)}


def _submit(scene: Scene, draw: random.Random) -> None:
    for tenant in TENANTS:
        scene.submit(tenant, [draw.uniform(SHORTEST, LONGEST) for _ in range(JOBS)])


def _kill(scene: Scene, worker: Worker, phase: Phase) -> None:
    """Kill it in this phase, or after RINGS if none of its bodies is heard."""
    pids, before = set(usage.tree([worker.pid])), len(scene.bell.rings)

    def rang() -> bool:
        return any(ring.event == phase.event and ring.pid in pids for ring in scene.bell.rings[before:])

    scene.wait(rang, RINGS, every=LOOK)
    time.sleep(phase.later)
    if phase.stopping is not None:
        worker.stop()
        time.sleep(phase.stopping)
    worker.kill()


def _rests(scene: Scene) -> bool:
    """Whether no body runs, and none has for a while: what is left waits for the queue to find it."""
    rings = scene.rings
    return not scene.running() and bool(rings) and time.monotonic() - rings[-1].moment > LULL


def _lost(scene: Scene) -> bool:
    """Whether what has not ended never will: nothing runs, and the queue has no job left."""
    return _rests(scene) and not scene.peer.count()


def _figures(scene: Scene, since: float) -> Figures:
    runs, ended = scene.runs(), _ended(scene)
    cut = [run for run in runs if run.cut]
    again = [  # the next start of each run that was cut off
        min((later.start for later in runs if later.id == run.id and later.start > run.end), default=None)
        for run in cut
    ]
    last = max((run.end for run in runs if not run.cut and run.end < history.inf), default=since)
    return {
        "cut": len(cut),
        "again_s": max(start - run.end for run, start in zip(cut, again, strict=True)) if cut and all(again) else None,
        "unfinished": len(scene.jobs) - len(ended),
        "ended_twice": sum(times - 1 for times in ended.values()),
        "twice_at_once": history.twice_at_once(runs),
        "left": scene.peer.count(),
        "lasted_s": last - since if len(ended) == len(scene.jobs) else None,
    }


def _ended(scene: Scene) -> Counter[int]:
    """How often each job has run to its end."""
    return Counter(run.id for run in scene.runs() if run.end < history.inf and not run.cut)
