"""What the waiting jobs wait for, over counts: the gates of `explain`, for all lanes at once. Pure.

A look has sent the jobs of each lane through the limits of their tenant (`jobs/sql/shared/lane_cuts.sql`). Here the
rest goes on through the gates of its queue and of its pool; each job stays at the first gate that is closed for it.
What passes all gates but finds no process is the operators' own part of the wait. Limits per user are not known here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.allocation.gates import Gate
from jobs.allocation.room import left, of_tokens
from jobs.reading.looking import Lane, Queue

PROCESS = frozenset({Gate.NO_WORKER, Gate.POOL_FULL, Gate.NEXT})  # the gates that more processes would open


@dataclass(frozen=True)
class Cut:
    """Jobs of a lane that wait at a gate. tenant_id: None for lanes that were not looked at one by one."""

    tenant_id: int | None
    queue_id: int
    gate: Gate
    jobs: int


@dataclass(frozen=True)
class Pool:
    """A pool: the processes of its live workers; the jobs that run there or are on their way.

    may_run: the jobs that more processes would run. late: those of them that could run at a look before, as far as it
    noted them. first_since: the earliest moment at which one of the first that may run became ready; late_since: since
    when a late one could run, at least.
    """

    name: str
    processes: int
    in_use: int
    may_run: int
    late: int
    first_since: datetime | None
    late_since: datetime | None

    @property
    def demand(self) -> int:
        """The processes that would be busy if there were enough."""
        return self.in_use + self.may_run

    @property
    def is_short(self) -> bool:
        """Whether jobs that may run are certainly not just being claimed."""
        return self.late > 0 or (self.may_run > 0 and not self.processes)

    @property
    def missing(self) -> int:
        return max(self.demand - self.processes, 0)


def cuts(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> list[Cut]:
    """Where the waiting jobs of each lane wait."""
    room = {pk: _room(queue) for pk, queue in queues.items()}
    processes = {queue.pool: queue.pool_processes - queue.pool_in_use for queue in queues.values()}
    found = []
    for lane in lanes:
        queue = queues.get(lane.queue_id)
        if queue is None:
            continue  # it came, or went, between two looks
        for gate, jobs in _cut(lane, queue, room[queue.id], processes):
            if jobs:
                found.append(Cut(lane.tenant_id, lane.queue_id, gate, jobs))
    return found


def closed(queue: Queue) -> bool:
    """Whether a queue lets no job go on, however many processes there are."""
    return queue.paused or min(_room(queue)) < 1


def _room(queue: Queue) -> list[float]:
    """What the queue's limit and its rate leave free."""
    return [left(queue.concurrency, queue.in_use), of_tokens(queue.tokens)]


def _cut(lane: Lane, queue: Queue, room: list[float], processes: dict[str, int]) -> Iterator[tuple[Gate, int]]:
    """Where the jobs of a lane stay. What they use of the room and of the processes is gone for the next lane."""
    yield Gate(lane.gate), lane.beyond_slots
    yield Gate.TENANT_RATE, lane.beyond_rate
    if queue.paused:
        yield Gate.QUEUE_PAUSED, lane.passing
        return
    within = int(min(lane.passing, room[0]))
    passing = int(min(within, room[1]))
    yield Gate.QUEUE_FULL, lane.passing - within
    yield Gate.QUEUE_RATE, within - passing
    room[:] = (space - passing for space in room)
    next_ = min(passing, max(processes[queue.pool], 0))
    processes[queue.pool] -= next_
    yield (Gate.POOL_FULL if queue.pool_processes else Gate.NO_WORKER), passing - next_
    yield Gate.NEXT, next_


def by_gate(found: Iterable[Cut]) -> list[tuple[Gate, int]]:
    """The jobs at each gate, most first."""
    counted: Counter[Gate] = Counter()
    for cut in found:
        counted[cut.gate] += cut.jobs
    return counted.most_common()


def pools(
    lanes: Sequence[Lane], queues: Mapping[int, Queue], found: Iterable[Cut], others: Mapping[str, int] | None = None
) -> list[Pool]:
    """The pools of all queues by name; and `others`, the processes of pools that perhaps no queue has."""
    processes = {**(others or {}), **{queue.pool: queue.pool_processes for queue in queues.values()}}
    in_use = {queue.pool: queue.pool_in_use for queue in queues.values()}
    may_run: Counter[int] = Counter()
    for cut in found:
        if cut.gate in PROCESS:
            may_run[cut.queue_id] += cut.jobs
    late: Counter[int] = Counter()
    first: dict[str, list[datetime]] = defaultdict(list)
    since: dict[str, list[datetime]] = defaultdict(list)
    for lane in lanes:
        if may_run[lane.queue_id] and lane.passing:
            pool = queues[lane.queue_id].pool
            late[lane.queue_id] += lane.late
            first[pool] += [lane.first_since] if lane.first_since else []
            since[pool] += [lane.late_since] if lane.late_since else []
    return [
        Pool(
            name,
            processes[name],
            in_use.get(name, 0),
            sum(may_run[pk] for pk, queue in queues.items() if queue.pool == name),
            sum(min(late[pk], may_run[pk]) for pk, queue in queues.items() if queue.pool == name),
            min(first[name], default=None),
            min(since[name], default=None),
        )
        for name in sorted(processes)
    ]
