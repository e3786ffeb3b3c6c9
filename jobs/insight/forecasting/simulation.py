"""Simulate one possible future of a scene by the rules of the claim, with random run times and arrivals."""

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
from jobs.allocation.world import Job, Pauses, World
from jobs.insight.forecasting import runs as drawn
from jobs.insight.forecasting.far_estimates import PRIORITY
from jobs.insight.forecasting.runs import Runs
from jobs.insight.forecasting.snapshot import Comer, Holding, InLine, Scene
from jobs.insight.forecasting.statements import FARTHEST

LATER = 1 << 57  # ids from here on belong to jobs that are not submitted yet
SHORTEST = 0.001  # the least seconds until a running job ends
COMERS = 4  # the most arrivals for each start of a draw: repeating a burst would make millions
SHUT = frozenset({Gate.TENANT_PAUSED, Gate.NO_SLOTS, Gate.QUEUE_PAUSED, Gate.NO_WORKER})  # only a person opens them

Starts = dict[int, float]  # by place: the seconds until the job starts; infinity: not within FARTHEST


def gates(scene: Scene) -> dict[tuple[int, int, str], Gate]:
    """Return the first closed gate for the jobs of each lane and user; NEXT if all are open."""
    books = scene.books()
    for one in scene.holding:
        books.hold(books.lane(one.tenant_id, one.queue_id), _job(one, one.place, one.claimed_at, 0.0))
        books.queues[one.queue_id].pool.in_use -= one.leaves
    found: dict[tuple[int, int, str], Gate] = {}
    for waits in scene.in_line:
        key = waits.tenant_id, waits.queue_id, waits.user
        if key not in found:
            first = closed(books.tenants[waits.tenant_id], books.queues[waits.queue_id], waits.user)
            found[key] = next(first, Gate.NEXT)
    return found


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


def stretches(scene: Scene, ends: Mapping[LaneId, int], deep: int) -> list[Stretch]:
    """Return the stretches of all lines that no gate of SHUT holds.

    ends: the place that a job would get now, for the lanes where it is known
    deep: the most jobs of each line
    """
    of_lane: dict[LaneId, list[InLine]] = defaultdict(list)
    for one in scene.in_line:
        of_lane[one.tenant_id, one.queue_id].append(one)
    shut = {key[:2] for key, gate in gates(scene).items() if gate in SHUT}
    known = {lane for lane, row in scene.lanes.items() if row["state"] != EMPTY}
    found: list[Stretch] = []
    for lane in scene.waiting:
        read = [one for one in of_lane[lane] if one.nth <= deep]
        if read and lane not in shut:
            found.append(Stretch(read, lane in known, ends.get(lane) if len(read) == len(of_lane[lane]) else None))
    return found


@dataclass(frozen=True)
class Odds:
    """The distributions of a draw.

    spread: the standard deviation of the logarithm of the factor common to all run times of a draw
    """

    runs: Runs
    random: Random
    pauses: Pauses
    spread: float


class Rehearsal:
    """One draw: a simulation of the scene.

    lines: the stretches of the scene, which are the same in every draw
    most: the number of starts after which the draw ends
    """

    def __init__(self, scene: Scene, odds: Odds, lines: Iterable[Stretch], most: int) -> None:
        self._scene, self._runs, self._random = scene, odds.runs, odds.random
        self._factor = drawn.common_factor(odds.random, odds.spread)
        self._ids = count(LATER)
        books = scene.books()
        self._queues = frozenset(books.queues)
        self._most = most
        self._world = World(books, now=0.0, pauses=odds.pauses, coming=islice(self._coming(), COMERS * most))
        self._wanted: set[int] = set()
        self._hold(books)
        self._stand(lines)

    def starts(self) -> Starts:
        """Return when the jobs in line start. If the draw ends after `most` starts, the other jobs are left out."""
        found: Starts = {}
        starts, world, wanted = 0, self._world, self._wanted
        while wanted and starts < self._most and world.now <= FARTHEST and world.step():
            starts += len(world.started)
            for job in world.started:
                if job.place in wanted and job.started_at is not None:
                    wanted.discard(job.place)
                    found[job.place] = job.started_at
            world.started.clear()
        return found if starts >= self._most else found | dict.fromkeys(wanted, inf)

    def _hold(self, books: Books) -> None:
        for one in self._scene.holding:
            like = self._runs.like(one.tenant_id, one.job_type)
            started = one.started_at if one.started_at is not None else 0.0
            seconds = self._factor * drawn.draw_longer(self._random, like, -started / self._factor)
            ends = max(started + seconds, SHORTEST)
            job = _job(one, one.place, one.claimed_at, seconds)
            self._world.hold(job, claimed_at=one.claimed_at, started_at=started, ends_at=ends)
            if one.leaves:
                pool = books.queues[one.queue_id].pool
                pool.processes += 1
                self._world.change(ends, partial(_one_less, name=pool.name))

    def _stand(self, lines: Iterable[Stretch]) -> None:
        """Put the jobs in line, and one more at the end of each line whose end is known."""
        for line in lines:
            stand = self._world.wait if line.met else self._world.arrive
            for job in self._whole(line.read):
                stand(job)
            self._wanted.update(one.place for one in line.read)
            if line.end is not None:
                self._world.arrive(self._alike(line.read[-1], line.end, 0.0))
                self._wanted.add(line.end)

    def _whole(self, read: Sequence[InLine]) -> Iterator[Job]:
        """Yield all jobs of the line. Where a job was not read, a random one of the line stands in."""
        before, nth = read[0].place - read[0].nth, 0
        for one in read:
            for missing in range(nth + 1, one.nth):
                like = read[int(self._random.random() * len(read))]
                yield self._alike(like, before + missing - nth, 0.0)
            yield self._alike(one, one.place, min(one.ready_at, 0.0))
            before, nth = one.place, one.nth

    def _coming(self) -> Iterator[Job]:
        begin = self._random.random() * self._scene.window
        due = ((one.at, n, one) for n, one in enumerate(self._scene.due))
        others = ((at, n, one) for n, (at, one) in enumerate(again(self._scene.arrived, self._scene.window, begin)))
        for at, _, one in merge(due, others, key=lambda comer: comer[:2]):
            if one.queue_id in self._queues:
                yield self._comes(one, at)

    def _comes(self, one: Comer, at: float) -> Job:
        place = (one.priority << PRIORITY) + next(self._ids) if one.place is None else one.place
        return self._alike(one, place, at)

    def _alike(self, one: InLine | Comer, place: int, ready_at: float) -> Job:
        like = self._runs.like(one.tenant_id, one.job_type)
        return _job(one, place, ready_at, self._factor * drawn.draw(self._random, like))


def again(arrived: Sequence[Comer], window: float, begin: float) -> Iterator[tuple[float, Comer]]:
    """Yield future arrivals without an end, in order: the seconds from now, and the job that comes again.

    They repeat the window again and again, so that bursts stay bursts.

    arrived: in the order of `at`
    window: the seconds in which they came
    begin: the moment of the window at which the repetition begins, which is now
    """
    if not arrived:
        return
    first = next((place for place, one in enumerate(arrived) if one.at >= begin), len(arrived))
    passed = -begin
    while True:
        for one in arrived[first:]:
            yield passed + one.at, one
        first, passed = 0, passed + window


def _job(one: InLine | Comer | Holding, place: int, ready_at: float, seconds: float) -> Job:
    return Job(place=place, tenant=one.tenant_id, queue=one.queue_id, user=one.user, ready_at=ready_at, seconds=seconds)


def _one_less(books: Books, name: str) -> None:
    books.pool(name, books.pool(name).processes - 1)
