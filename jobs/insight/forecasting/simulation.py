"""Simulate one possible future of a snapshot by the rules of the claim, with random run times and arrivals."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import count, islice
from math import inf
from random import Random

from jobs.allocation.books import Books
from jobs.allocation.gates import Gate, closed
from jobs.allocation.state import EMPTY, LaneId
from jobs.allocation.world import IdleGaps, SimulatedJob, World
from jobs.insight.forecasting import runs as drawn
from jobs.insight.forecasting.far_estimates import PRIORITY
from jobs.insight.forecasting.runs import Runs
from jobs.insight.forecasting.snapshot import ComingJob, Holding, InLine, Snapshot
from jobs.insight.forecasting.statements import FARTHEST

LATER = 1 << 57  # ids from here on belong to jobs that are not submitted yet
SHORTEST = 0.001  # the least seconds until a running job ends
ARRIVALS = 4  # the most arrivals for each start of a draw: repeating a burst would make millions
SHUT = frozenset({Gate.TENANT_PAUSED, Gate.NO_SLOTS, Gate.QUEUE_PAUSED, Gate.NO_WORKER})  # only a person opens them

Starts = dict[int, float]  # by place: the seconds until the job starts; infinity: not within FARTHEST


def gates(snapshot: Snapshot) -> dict[tuple[int, int, str], Gate]:
    """Return the first closed gate for the jobs of each lane and user; NEXT if all are open."""
    books = snapshot.books()
    for held in snapshot.holding:
        books.hold(books.lane(held.tenant_id, held.queue_id), _job(held, held.place, held.claimed_at, 0.0))
        books.queues[held.queue_id].pool.in_use -= held.leaves
    first_gates: dict[tuple[int, int, str], Gate] = {}
    for waits in snapshot.in_line:
        key = waits.tenant_id, waits.queue_id, waits.user
        if key not in first_gates:
            first_gates[key] = next(closed(books.lane(waits.tenant_id, waits.queue_id), waits.user), Gate.NEXT)
    return first_gates


@dataclass(frozen=True)
class Stretch:
    """The part of a line that is simulated.

    read: its jobs
    met: whether a dispatch has found jobs in the lane; if not, they arrive in it now
    end: the place that a job would get now; None: not known
    """

    read: Sequence[InLine]
    met: bool
    end: int | None


def stretches(snapshot: Snapshot, ends: Mapping[LaneId, int], deep: int) -> list[Stretch]:
    """Return the stretches of all lines that no gate of SHUT holds.

    ends: the place that a job would get now, for the lanes where it is known
    deep: the most jobs of each line
    """
    of_lane: dict[LaneId, list[InLine]] = defaultdict(list)
    for job in snapshot.in_line:
        of_lane[job.tenant_id, job.queue_id].append(job)
    shut = {key[:2] for key, gate in gates(snapshot).items() if gate in SHUT}
    known = {lane for lane, row in snapshot.lanes.items() if row["state"] != EMPTY}
    lines: list[Stretch] = []
    for lane in snapshot.waiting:
        read = [job for job in of_lane[lane] if job.nth <= deep]
        if read and lane not in shut:
            lines.append(Stretch(read, lane in known, ends.get(lane) if len(read) == len(of_lane[lane]) else None))
    return lines


@dataclass(frozen=True)
class Odds:
    """The distributions of a draw.

    spread: the standard deviation of the logarithm of the factor common to all run times of a draw
    """

    runs: Runs
    random: Random
    idle_gaps: IdleGaps
    spread: float


class Simulation:
    """One draw: a simulation of the snapshot.

    lines: the stretches of the snapshot, which are the same in every draw
    most_starts: the number of starts after which the draw ends
    """

    def __init__(self, snapshot: Snapshot, odds: Odds, lines: Iterable[Stretch], most_starts: int) -> None:
        self._snapshot, self._runs, self._random = snapshot, odds.runs, odds.random
        self._factor = drawn.common_factor(odds.random, odds.spread)
        self._ids = count(LATER)
        books = snapshot.books()
        self._queues = frozenset(books.queues)
        self._most_starts = most_starts
        self._world = World(
            books, now=0.0, idle_gaps=odds.idle_gaps, coming=islice(self._coming(), ARRIVALS * most_starts)
        )
        self._wanted: set[int] = set()
        self._hold(books)
        self._stand(lines)

    def starts(self) -> Starts:
        """Return when the jobs in line start. If the draw ends before, the other jobs are left out."""
        start_of: Starts = {}
        starts, world, wanted = 0, self._world, self._wanted
        while wanted and starts < self._most_starts and world.now <= FARTHEST and world.step():
            starts += len(world.started)
            for job in world.started:
                if job.place in wanted and job.started_at is not None:
                    wanted.discard(job.place)
                    start_of[job.place] = job.started_at
            world.started.clear()
        return start_of if starts >= self._most_starts else start_of | dict.fromkeys(wanted, inf)

    def _hold(self, books: Books) -> None:
        for holding in self._snapshot.holding:
            like = self._runs.like(holding.tenant_id, holding.job_type)
            started = holding.started_at if holding.started_at is not None else 0.0
            seconds = self._factor * drawn.draw_longer(self._random, like, -started / self._factor)
            ends = max(started + seconds, SHORTEST)
            job = _job(holding, holding.place, holding.claimed_at, seconds)
            self._world.hold(job, claimed_at=holding.claimed_at, started_at=started, ends_at=ends)
            if holding.leaves:
                pool = books.queues[holding.queue_id].pool
                pool.processes += 1
                self._world.change(ends, partial(_one_less, name=pool.name))

    def _stand(self, lines: Iterable[Stretch]) -> None:
        """Put the jobs in line, and one more at the end of each line whose end is known."""
        for line in lines:
            stand = self._world.wait if line.met else self._world.arrive
            for job in self._whole(line.read):
                stand(job)
            self._wanted.update(waiting.place for waiting in line.read)
            if line.end is not None:
                self._world.arrive(self._alike(line.read[-1], line.end, 0.0))
                self._wanted.add(line.end)

    def _whole(self, read: Sequence[InLine]) -> Iterator[SimulatedJob]:
        """Yield all jobs of the line. Where a job was not read, a random one of the line stands in."""
        before, nth = read[0].place - read[0].nth, 0
        for waiting in read:
            for missing in range(nth + 1, waiting.nth):
                like = read[int(self._random.random() * len(read))]
                yield self._alike(like, before + missing - nth, 0.0)
            yield self._alike(waiting, waiting.place, min(waiting.ready_at, 0.0))
            before, nth = waiting.place, waiting.nth

    def _coming(self) -> Iterator[SimulatedJob]:
        begin = self._random.random() * self._snapshot.window
        due = ((arrival.at, n, arrival) for n, arrival in enumerate(self._snapshot.due))
        others = (
            (at, n, arrival)
            for n, (at, arrival) in enumerate(again(self._snapshot.arrived, self._snapshot.window, begin))
        )
        for at, _, arrival in merge(due, others, key=lambda item: item[:2]):
            if arrival.queue_id in self._queues:
                yield self._comes(arrival, at)

    def _comes(self, arrival: ComingJob, at: float) -> SimulatedJob:
        place = (arrival.priority << PRIORITY) + next(self._ids) if arrival.place is None else arrival.place
        return self._alike(arrival, place, at)

    def _alike(self, job: InLine | ComingJob, place: int, ready_at: float) -> SimulatedJob:
        like = self._runs.like(job.tenant_id, job.job_type)
        return _job(job, place, ready_at, self._factor * drawn.draw(self._random, like))


def again(arrived: Sequence[ComingJob], window: float, begin: float) -> Iterator[tuple[float, ComingJob]]:
    """Yield future arrivals without an end, in order: the seconds from now, and the job that comes again.

    They repeat the window again and again, so that bursts stay bursts.

    arrived: in the order of `at`
    window: the seconds in which they came
    begin: the moment of the window at which the repetition begins, which is now
    """
    if not arrived:
        return
    first = next((place for place, arrival in enumerate(arrived) if arrival.at >= begin), len(arrived))
    passed = -begin
    while True:
        for arrival in arrived[first:]:
            yield passed + arrival.at, arrival
        first, passed = 0, passed + window


def _job(job: InLine | ComingJob | Holding, place: int, ready_at: float, seconds: float) -> SimulatedJob:
    return SimulatedJob(
        place=place, tenant=job.tenant_id, queue=job.queue_id, user=job.user, ready_at=ready_at, seconds=seconds
    )


def _one_less(books: Books, name: str) -> None:
    books.pool(name, books.pool(name).processes - 1)
