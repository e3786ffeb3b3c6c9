"""partitions: the longest time in which no body begins, while the paths of five of six hosts are cut.

One host stays whole; one loses PostgreSQL, one broker and cache, one all of them, one what it sends to PostgreSQL, and
one what PostgreSQL sends to it. Each runs a worker of two processes. Tenants may hold more jobs than the whole host has
processes, and some jobs keep theirs for LONG seconds: nobody waits for the tenants, and such jobs may fill that host.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, pairwise
from pathlib import Path

from benchmarks import bells, fill
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from embedded import engines, fleet
from embedded.processes import Processes
from jobs.lifecycle import FINAL
from jobs.models import AnyJob, Job, Worker
from tests import network
from tests.waiting import wait_until

WAYS = (engines.DATABASE, engines.BROKER, engines.CACHE)
HOSTS: dict[str, dict[int, dict[str, bool]]] = {  # what is cut, by the place in WAYS
    "whole": {},
    "no PostgreSQL": {0: {}},
    "no broker, no cache": {1: {}, 2: {}},
    "nothing": {0: {}, 1: {}, 2: {}},
    "nothing to PostgreSQL": {0: {"back": False}},
    "nothing from PostgreSQL": {0: {"there": False}},
}
CUTS = (5, 40, 180)  # seconds
CALM = 30.0  # seconds after each
PAUSE, SHORT, LONG, EACH = 0.1, 0.02, 12.0, 40  # seconds between submits; of a body; every EACHth is long
TENANTS, SLOTS = 6, 2
LONGEST = "longest time without a begin, s"
BARS = [Bar(of=(LONGEST, f"cut for {seconds} s"), at_most=15) for seconds in CUTS]


def measure(directory: Path) -> Figures:
    """Cut and heal; then every job must have ended well."""
    ours = Ours()
    ours.prepare(TENANTS, SLOTS)
    longest: dict[str, float] = {}
    with _hosts(directory) as paths:
        with _submitting(ours):
            time.sleep(CALM / 3)
            for seconds in CUTS:
                longest[f"cut for {seconds} s"] = _cut(paths, seconds)
        wait_until(lambda: not Job.objects.exclude(status__in=FINAL).exists(), "all jobs end", 120)
    jobs = AnyJob.objects.all()
    twice = len(bells.heard()) // 2 - jobs.count()
    other = jobs.exclude(status="success").count()
    return {LONGEST: longest, "jobs": {"all": jobs.count(), "no success": other, "attempts beyond one each": twice}}


def _cut(paths: list[list[network.Path]], seconds: float) -> float:
    """Cut the paths for so many seconds, and return the longest time without a begin until some time after it."""
    begin = time.time()
    for ways, cuts in zip(paths, HOSTS.values(), strict=True):
        for place, how in cuts.items():
            ways[place].cut(**how)
    time.sleep(seconds)
    for path in (path for ways in paths for path in ways):
        path.heal()
    time.sleep(CALM)
    end = time.time()
    begins = [ring.moment for ring in bells.heard() if ring.words[0] == "begin" and begin < ring.moment < end]
    return max(later - earlier for earlier, later in pairwise([begin, *sorted(begins), end]))


@contextmanager
def _hosts(directory: Path) -> Iterator[list[list[network.Path]]]:
    """The paths of each; their workers are supervised."""
    with Processes() as processes, ExitStack() as stack:
        paths = [stack.enter_context(network.paths(*(os.environ[way] for way in WAYS))) for _ in HOSTS]
        for number, ways in enumerate(paths):
            environ = {**os.environ, **{way: path.url for way, path in zip(WAYS, ways, strict=True)}}
            command = fleet.worker(fill.POOL, 2, f"host{number}-{os.getpid()}", environ)
            processes.start(f"host{number}", *command, log=directory / f"host{number}.log", restart=True)
        wait_until(lambda: Worker.objects.filter(gone_at=None).count() == len(HOSTS), "the workers register")
        yield paths


@contextmanager
def _submitting(ours: Ours) -> Iterator[None]:
    stop = threading.Event()

    def submit() -> None:
        for n in count():
            if stop.wait(PAUSE):
                return
            thing = ours.things[n % TENANTS]
            thing.async_(dedup=False).rest(n, seconds=LONG if n % EACH == 0 else SHORT)

    thread = threading.Thread(target=submit, daemon=True)
    thread.start()
    yield
    stop.set()
    thread.join()
