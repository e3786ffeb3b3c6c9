"""Forecast the jobs too far back to be simulated, by the fair rates of their lanes."""

from collections import defaultdict
from collections.abc import Mapping, Set
from math import hypot, inf
from statistics import NormalDist, fmean

from jobs.allocation.state import Lane, LaneId, Pool, Queue
from jobs.insight.forecasting.fair_rates import Course, Flow, courses, deviation
from jobs.insight.forecasting.runs import Runs
from jobs.insight.forecasting.snapshot import InLine, Snapshot
from jobs.insight.forecasting.statements import FARTHEST

PRIORITY = 58  # bits of a place to the right of its priority: job_place
TENTH = NormalDist().inv_cdf(0.9)  # standard deviations above the mean: nine of ten values lie below


class FarEstimates:
    """Estimates by fair rates, for all lanes: the course of each, its mean run time and its arrivals.

    spread: the standard deviation of the common factor's logarithm (jobs/insight/forecasting/runs.py)
    """

    def __init__(self, snapshot: Snapshot, runs: Runs, spread: float) -> None:
        self._spread = spread
        self._held_until = snapshot.held_until
        self._means = means(snapshot, runs)
        self._arriving: dict[LaneId, dict[int, float]] = defaultdict(lambda: defaultdict(float))  # by priority
        for arrival in snapshot.arrived:
            lane = arrival.tenant_id, arrival.queue_id
            self._arriving[lane][arrival.priority] += runs.mean(arrival.tenant_id, arrival.job_type) / snapshot.window
        self._courses = _courses(
            snapshot, self._means, {lane: sum(by_priority.values()) for lane, by_priority in self._arriving.items()}
        )

    def quantiles(self, job: InLine) -> tuple[float, float, float]:
        """Return three moments for the job, in seconds from now: the earliest likely start, p50 and p90.

        Beyond FARTHEST p50 and p90 are infinite.
        """
        lane = job.tenant_id, job.queue_id
        mean, before = self._means[lane], job.nth - 1
        urgent = sum(work for priority, work in self._arriving[lane].items() if priority < job.place >> PRIORITY)
        middle, speed = self._courses[lane].reaches(before * mean, urgent)
        middle += self._held_until(lane)
        if middle > FARTHEST:
            return middle, inf, inf
        sway = TENTH * hypot(deviation([mean] * before, speed), self._spread * middle)
        return max(middle - sway, 0.0), middle, middle + sway


def means(snapshot: Snapshot, runs: Runs) -> dict[LaneId, float]:
    """Return the mean run time of each lane's jobs, in seconds, by the types of the jobs that were read."""
    seconds_of: dict[LaneId, list[float]] = defaultdict(list)
    for job in snapshot.in_line:
        seconds_of[job.tenant_id, job.queue_id].append(runs.mean(job.tenant_id, job.job_type))
    return {lane: fmean(seconds) for lane, seconds in seconds_of.items()}


def _courses(snapshot: Snapshot, mean: dict[LaneId, float], arriving: dict[LaneId, float]) -> dict[LaneId, Course]:
    """Return the course of each lane, computed for each pool by itself."""
    books = snapshot.books()
    users: dict[int, set[str]] = defaultdict(set)
    for job in snapshot.in_line:
        users[job.tenant_id].add(job.user)
    weights = {queue.id: float(queue.weight) for queue in books.queues.values()}
    limits = {queue.id: _limit_of(queue, snapshot.waiting, mean) for queue in books.queues.values()}
    flows: dict[Pool, dict[LaneId, Flow]] = defaultdict(dict)
    for lane, waiting in snapshot.waiting.items():
        if lane in mean:
            book = books.lane(*lane)
            slots = _slots_of(book, users[lane[0]], mean[lane])
            flow = Flow(*lane, waiting * mean[lane], book.tenant.weight, slots, arriving.get(lane, 0.0))
            flows[book.queue.pool][lane] = flow
    courses_of: dict[LaneId, Course] = {}
    for pool, lane_flows in flows.items():
        courses_of |= zip(
            lane_flows, courses(pool.processes, list(lane_flows.values()), weights, limits, FARTHEST), strict=True
        )
    return courses_of


def _slots_of(lane: Lane, users: Set[str], mean: float) -> float:
    """Return how many processes the jobs of a lane can keep busy within the limits of its tenant.

    users: the users of the tenant's jobs that were read
    mean: the mean run time of the jobs, in seconds
    """
    tenant = lane.tenant
    if tenant.paused:
        return 0.0
    of_lane = inf if lane.slots is None else lane.slots
    slots = float(min(tenant.num_slots or 0, of_lane, tenant.slots_of_users(users)))
    return min(slots, mean / tenant.pause) if tenant.pause else slots


def _limit_of(queue: Queue, waiting: Mapping[LaneId, int], mean: Mapping[LaneId, float]) -> float:
    """Return how many processes the jobs of a queue can keep busy within its limits; infinity if it has none.

    waiting: the number of jobs in line, by lane
    mean: the mean run time of the jobs in seconds, by lane
    """
    if queue.paused:
        return 0.0
    processes = float(queue.concurrency or inf)
    lanes = [lane for lane in waiting if lane[1] == queue.id and lane in mean]
    seconds = sum(waiting[lane] for lane in lanes) * queue.pause
    return min(processes, sum(waiting[lane] * mean[lane] for lane in lanes) / seconds) if seconds else processes
