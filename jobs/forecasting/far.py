"""What lies behind the jobs that are simulated: the fluid model over a scene."""

from collections import defaultdict
from collections.abc import Set
from math import hypot, inf
from statistics import NormalDist, fmean

from jobs.forecasting.fluid import Course, Flow, courses, deviation
from jobs.forecasting.runs import Runs
from jobs.forecasting.scene import InLine, Owner, Scene, Turn, pause
from jobs.forecasting.statements import FARTHEST

PRIORITY = 58  # bits of a place to the right of its priority: job_place
TENTH = NormalDist().inv_cdf(0.9)  # deviations that nine of ten stay below

Lane = tuple[int, int]  # tenant, queue


class Far:
    """The courses of all lanes, and the mean run time and the arrivals of each. spread: of the common factor."""

    def __init__(self, scene: Scene, runs: Runs, spread: float) -> None:
        self._spread = spread
        self._means = means(scene, runs)
        self._arriving: dict[Lane, dict[int, float]] = defaultdict(lambda: defaultdict(float))  # by priority
        for one in scene.arrived:
            lane = one.tenant_id, one.queue_id
            self._arriving[lane][one.priority] += runs.mean(one.tenant_id, one.job_type) / scene.window
        self._courses = _courses(scene, self._means, {lane: sum(of.values()) for lane, of in self._arriving.items()})

    def quantiles(self, job: InLine) -> tuple[float, float, float]:
        """Before which it hardly starts, p50 and p90."""
        lane = job.tenant_id, job.queue_id
        mean, before = self._means[lane], job.nth - 1
        urgent = sum(work for priority, work in self._arriving[lane].items() if priority < job.place >> PRIORITY)
        middle, speed = self._courses[lane].reaches(before * mean, urgent)
        if middle > FARTHEST:
            return middle, inf, inf
        sway = TENTH * hypot(deviation([mean] * before, speed), self._spread * middle)
        return max(middle - sway, 0.0), middle, middle + sway


def means(scene: Scene, runs: Runs) -> dict[Lane, float]:
    """How long the jobs of each lane run, by those that were read."""
    of: dict[Lane, list[float]] = defaultdict(list)
    for one in scene.in_line:
        of[one.tenant_id, one.queue_id].append(runs.mean(one.tenant_id, one.job_type))
    return {lane: fmean(found) for lane, found in of.items()}


def _courses(scene: Scene, mean: dict[Lane, float], arriving: dict[Lane, float]) -> dict[Lane, Course]:
    """Each pool for itself."""
    owners = {owner.id: owner for owner in scene.owners}
    users: dict[int, set[str]] = defaultdict(set)
    for one in scene.in_line:
        users[one.tenant_id].add(one.user)
    weights = {turn.id: float(turn.weight) for turn in scene.turns}
    most = {turn.id: _most_of(turn, scene, mean) for turn in scene.turns}
    pool_of = {turn.id: turn.pool for turn in scene.turns}
    flows: dict[str, dict[Lane, Flow]] = defaultdict(dict)
    for line in scene.lines:
        lane = line.tenant_id, line.queue_id
        owner = owners.get(line.tenant_id)
        if owner is None or lane not in mean or line.queue_id not in pool_of:
            continue
        slots = _slots_of(owner, users[line.tenant_id], mean[lane])
        work = line.waiting * mean[lane]
        flow = Flow(*lane, work, owner.weight, slots, arriving.get(lane, 0.0))
        flows[pool_of[line.queue_id]][lane] = flow
    found: dict[Lane, Course] = {}
    for pool, of in flows.items():
        capacity = float(scene.pools.get(pool, 0))
        found |= zip(of, courses(capacity, list(of.values()), weights, most, FARTHEST), strict=True)
    return found


def _slots_of(owner: Owner, users: Set[str], mean: float) -> float:
    """The processes that jobs of so many seconds can keep busy, by the limits of their tenant. users: of those read."""
    if owner.paused:
        return 0.0
    slots = float(owner.num_slots or 0)
    if owner.user_slots is not None and "" not in users:
        slots = min(slots, float(owner.user_slots * len(users)))
    return min(slots, mean / pause(owner)) if pause(owner) else slots


def _most_of(turn: Turn, scene: Scene, mean: dict[Lane, float]) -> float:
    """The same of a queue."""
    if turn.paused:
        return 0.0
    most = float(turn.concurrency or inf)
    lines = [line for line in scene.lines if line.queue_id == turn.id and (line.tenant_id, turn.id) in mean]
    seconds = sum(line.waiting * pause(turn) for line in lines)
    work = sum(line.waiting * mean[line.tenant_id, turn.id] for line in lines)
    return min(most, work / seconds) if seconds else most
