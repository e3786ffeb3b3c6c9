"""A discrete-event simulation around the dispatches: jobs arrive, get slots, start, follow, end, and free their slots.

Moments are seconds from any origin, the same for all. tests/integration/store/test_world.py tests only the dispatches.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import cast

from jobs.allocation.books import Books
from jobs.allocation.follow import follow
from jobs.allocation.line import BookedJob
from jobs.allocation.order import SLICE
from jobs.allocation.passes import dispatch
from jobs.allocation.state import Lane

LOOKS = 1.0  # seconds after which the clock dispatches again if a token is late by rounding


@dataclass(slots=True, eq=False, kw_only=True)
class SimulatedJob(BookedJob):
    """A job of the simulation.

    seconds: its run time
    follows: whether another job may follow in its slot, since it succeeds
    ended: called at its end, with the moment
    since: the start of the first job in its slot
    started_at: None: not yet
    """

    tenant: int
    queue: int
    ready_at: float = 0.0
    seconds: float = 0.0
    follows: bool = True
    ended: Callable[[float], object] | None = None
    since: float = field(default=0.0, init=False)
    started_at: float | None = field(default=None, init=False)


@dataclass(frozen=True)
class IdleGaps:
    """The idle times of a process of an ordinary pool, in seconds.

    between: from the end of a job to the next claim
    handover: from a claim to the start of the job
    """

    between: float
    handover: float


# Of a seat in a light pool: the trip that claims a job also starts it, and ends gather for a short while. The record
# cannot tell, since many attempts run in a process at once: none of them is the one before another.
LIGHT = IdleGaps(between=0.01, handover=0.005)


class World:
    """The simulation of a deployment.

    now: the moment of the last step, or of the beginning
    coming: jobs in the order of their ready_at; there may be infinitely many
    started: the jobs that have started, in order; its reader clears it
    """

    def __init__(self, books: Books, *, now: float, idle_gaps: IdleGaps, coming: Iterable[SimulatedJob] = ()) -> None:
        self.books, self.now = books, now
        self.started: list[SimulatedJob] = []
        self._idle_gaps, self._coming = idle_gaps, iter(coming)
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._ties = count()
        self._begun = False
        self._await_next()

    def wait(self, job: SimulatedJob) -> None:
        """Put the job in line at the beginning, in a lane that a dispatch has met."""
        self._lane(job).line.add(job)

    def hold(self, job: SimulatedJob, *, claimed_at: float, started_at: float, ends_at: float) -> None:
        """Let the job hold a slot at the beginning."""
        job.started_at = job.since = started_at
        job.ticket = round(claimed_at * 1000)
        self.books.hold(self._lane(job), job)
        self._at(ends_at, partial(self._end, job))

    def arrive(self, job: SimulatedJob) -> None:
        """Let the job become ready at its ready_at."""
        self._at(job.ready_at, lambda: self.books.arrive(self._lane(job), job))

    def leave(self, job: SimulatedJob, at: float) -> None:
        """Let the job leave the line at that moment, if it still waits there."""
        self._at(at, partial(self._leave, job))

    def change(self, at: float, change: Callable[[Books], object]) -> None:
        """Apply a change to the books at that moment."""
        self._at(at, partial(change, self.books))

    def step(self) -> bool:
        """Go to the next moment: run all its events, then a dispatch. Return False when no event is left."""
        moment = min(self._events[0][0] if self._events else inf, self._next_token() if self._begun else self.now)
        if moment == inf:
            return False
        self._begun, self.now = True, max(moment, self.now)
        while self._events and self._events[0][0] <= self.now:
            heappop(self._events)[2]()
        for taken in dispatch(self.books, self.now):
            job = cast(SimulatedJob, taken.job)
            job.since = self.now + self._gaps_of(job).handover
            self._start(job, job.since)
        return True

    def _start(self, job: SimulatedJob, at: float) -> None:
        job.started_at = at
        self.started.append(job)
        self._at(at + job.seconds, partial(self._end, job))

    def _end(self, job: SimulatedJob) -> None:
        lane = self._lane(job)
        if job.ended is not None:
            job.ended(self.now)
        if job.follows and self.now - job.since < SLICE:
            following = cast(SimulatedJob | None, follow(lane, job, lane.queue.pool))
            if following is not None:
                following.since = job.since
                self._start(following, self.now)
                return
        worked = self.now - job.since
        self._at(self.now + self._gaps_of(job).between, lambda: self.books.free(lane, job, worked))

    def _gaps_of(self, job: SimulatedJob) -> IdleGaps:
        return LIGHT if self.books.queues[job.queue].pool.light else self._idle_gaps

    def _await_next(self) -> None:
        job = next(self._coming, None)
        if job is not None:
            self._at(job.ready_at, partial(self._comes, job))

    def _comes(self, job: SimulatedJob) -> None:
        self.books.arrive(self._lane(job), job)
        self._await_next()

    def _leave(self, job: SimulatedJob) -> None:
        lane = self._lane(job)
        if job in lane.arrived:
            lane.arrived.remove(job)
        elif job.started_at is None:
            lane.line.remove(job)

    def _lane(self, job: SimulatedJob) -> Lane:
        return self.books.lane(job.tenant, job.queue)

    def _at(self, moment: float, what: Callable[[], object]) -> None:
        heappush(self._events, (moment, next(self._ties), what))

    def _next_token(self) -> float:
        """Return the moment at which a tenant or queue with waiting jobs gets its next token, or a hold is over.

        Infinity if there is none.
        """
        first = min((heap[0][0] for heap in (self.books.opening, self.books.holding) if heap), default=inf)
        for queue in self.books.queues.values():
            if queue.full_at is not None and queue.circle:
                moment = queue.next_at(queue.after(0, self.now))
                first = first if moment is None else min(first, moment)
        return first if first > self.now or first == inf else self.now + LOOKS
