"""Drive a scenario: submit each job at its moment, as theirs does from four threads; its body rings when it begins."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from benchmarks import SHORTER, bells, stage
from benchmarks.bars import Figures
from benchmarks.contenders.light import LightSide
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.procrastinate import Procrastinate
from benchmarks.public.scenarios import Arrival, Scenario, arrivals
from embedded.fleet import Command

THREADS = 4  # that submit
WARM = 4.0  # seconds for a worker to start all its processes and connections

DONE, SUBMITS = "jobs/s", "submits/s"


class Side(Protocol):
    """A contender of these scenarios."""

    name: str

    def open(self, tenants: int, slots: int) -> None:
        """Empty its queues; each tenant may use all the workers at once."""

    def put(self, n: int, arrival: Arrival) -> None:
        """Submit one job, whose body rings ("begin", tenant, n) and ("end", tenant, n)."""

    def crew(self, workers: int) -> Command:
        """A worker that runs so many jobs at once."""


class Pickup(NamedTuple):
    """tenant: 0 is the noisy one. seconds: from the return of the submit to the begin of the body."""

    tenant: int
    seconds: float


def compare(scenario: Scenario, directory: Path, *, light: bool = False) -> Figures:
    """Ours, then Procrastinate, in one run; light: between them ours with a light pool."""
    scenario = replace(scenario, seconds=SHORTER or scenario.seconds)
    figures: Figures = {}
    for side in (Ours(), *([LightSide()] if light else []), Procrastinate()):
        for what, value in _drive(scenario, side, directory).items():
            figures.setdefault(what, {})[side.name] = value
    return figures


def _drive(scenario: Scenario, side: Side, directory: Path) -> dict[str, float]:
    jobs = list(arrivals(scenario))
    side.open(scenario.tenants, scenario.workers)
    bells.forget()
    with stage.playing(directory, side.name, side.crew(scenario.workers)):
        for warm in range(scenario.workers):
            side.put(-1 - warm, Arrival(0, 0, 0, 0))
        bells.wait(2 * scenario.workers)
        time.sleep(WARM)
        bells.forget()
        since = time.monotonic()
        submitted = _submit(side, jobs, since)
        over = time.monotonic()
        deadline = max(since + 2 * scenario.seconds, over)
        while time.monotonic() < deadline and len(bells.heard()) < 2 * len(jobs):
            time.sleep(0.05)
        rings, seconds = list(bells.heard()), time.monotonic() - since
    done = sum(ring.words[0] == "end" for ring in rings)
    begun = [(int(ring.words[2]), ring.moment) for ring in rings if ring.words[0] == "begin"]
    pickups = [Pickup(jobs[n].tenant, max(0.0, moment - submitted[n])) for n, moment in begun]
    return {**waits(pickups, noisy=scenario.skew > 0), DONE: done / seconds, SUBMITS: len(jobs) / (over - since)}


def _submit(side: Side, jobs: Sequence[Arrival], since: float) -> dict[int, float]:
    """Submit each at its moment, or at once if it is late; the moment at which each submit returned."""
    waiting: SimpleQueue[int] = SimpleQueue()
    for n in range(len(jobs)):
        waiting.put(n)
    submitted: dict[int, float] = {}

    def work() -> None:
        while True:
            try:
                n = waiting.get_nowait()
            except Empty:
                return
            time.sleep(max(0.0, since + jobs[n].at - time.monotonic()))
            side.put(n, jobs[n])
            submitted[n] = time.time()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return submitted


def waits(pickups: Sequence[Pickup], *, noisy: bool) -> dict[str, float]:
    """Quantiles of the waits in ms: of all, or of the quiet tenants and the noisy one."""
    groups = {"all": [pickup.seconds for pickup in pickups]}
    if noisy:
        groups = {"quiet": [pickup.seconds for pickup in pickups if pickup.tenant]}
        groups["noisy"] = [pickup.seconds for pickup in pickups if not pickup.tenant]
    return {f"{name}, p{p} ms": quantile(seconds, p) * 1000 for name, seconds in groups.items() for p in (50, 95, 99)}


def quantile(values: Sequence[float], percent: int) -> float:
    """The least value that so many percent do not exceed."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)] if values else float("inf")
