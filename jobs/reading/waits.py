"""What the waiting jobs wait for, over counts: the gates of `explain`, for all lanes at once. Pure.

A job waits at the first gate that is closed for it now, whatever its place in its lane: as `explain` says of one job.
Apart from that, `pools` tells how many jobs more processes would run at once: those that all limits would let go.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.allocation import gates
from jobs.allocation.gates import Gate
from jobs.reading.looking import Lane, Queue, Worker

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
    when a late one could run, at least; idle_looks: how many looks of the recorder in a row found it beside an idle
    process.
    """

    name: str
    processes: int
    in_use: int
    may_run: int
    late: int
    first_since: datetime | None
    late_since: datetime | None
    idle_looks: int

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
    return [
        Cut(lane.tenant_id, lane.queue_id, gate, jobs)
        for lane in lanes
        if lane.queue_id in queues  # it came, or went, between two looks
        for gate, jobs in _cut(lane, queues[lane.queue_id])
        if jobs
    ]


def _cut(lane: Lane, queue: Queue) -> Iterator[tuple[Gate, int]]:
    for gate in _closed(lane, queue):
        yield gate, lane.waiting
        return
    yield Gate.USER_FULL, lane.of_full_users
    at_pool = next(gates.of_pool(queue.pool_processes, queue.pool_in_use), Gate.NEXT)
    yield at_pool, lane.waiting - lane.of_full_users


def _closed(lane: Lane, queue: Queue) -> Iterator[Gate]:
    """The gates that are closed for all jobs of a lane, in the order of `allocation.gates.closed`."""
    if lane.gate is not None:
        yield Gate(lane.gate)
    yield from gates.of_queue(queue, queue.tokens)
    if lane.no_tokens:
        yield Gate.TENANT_RATE


def closed(queue: Queue) -> bool:
    """Whether a queue lets no job go on, however many processes there are."""
    return next(gates.of_queue(queue, queue.tokens), None) is not None


def by_gate(found: Iterable[Cut]) -> list[tuple[Gate, int]]:
    """The jobs at each gate, most first."""
    counted: Counter[Gate] = Counter()
    for cut in found:
        counted[cut.gate] += cut.jobs
    return counted.most_common()


def pools(lanes: Sequence[Lane], queues: Mapping[int, Queue], workers: Iterable[Worker] = ()) -> list[Pool]:
    """The pools of all queues by name, and those of `workers` that no queue has."""
    others: Counter[str] = Counter()
    for worker in workers:
        if worker.gone_at is None:
            others[worker.pool] += worker.concurrency
    processes = {**others, **{queue.pool: queue.pool_processes for queue in queues.values()}}
    in_use = {queue.pool: queue.pool_in_use for queue in queues.values()}
    jobs = may_run(lanes, queues)
    late: Counter[int] = Counter()
    of_pool: dict[str, list[Lane]] = defaultdict(list)
    for lane in lanes:
        if jobs[lane.queue_id] and lane.passing:
            late[lane.queue_id] += lane.late
            of_pool[queues[lane.queue_id].pool].append(lane)
    return [
        Pool(
            name,
            processes[name],
            in_use.get(name, 0),
            sum(jobs[pk] for pk, queue in queues.items() if queue.pool == name),
            sum(min(late[pk], jobs[pk]) for pk, queue in queues.items() if queue.pool == name),
            min((lane.first_since for lane in of_pool[name] if lane.first_since), default=None),
            min((lane.late_since for lane in of_pool[name] if lane.late_since), default=None),
            max((lane.idle_looks for lane in of_pool[name]), default=0),
        )
        for name in sorted(processes)
    ]


def may_run(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> Counter[int]:
    """The jobs of each queue that more processes would run. The room that a lane uses is gone for the next."""
    room = {pk: 0.0 if queue.paused else gates.room(queue, queue.tokens) for pk, queue in queues.items()}
    found: Counter[int] = Counter()
    for lane in lanes:
        jobs = int(min(lane.passing, room.get(lane.queue_id, 0)))
        if jobs:
            room[lane.queue_id] -= jobs
            found[lane.queue_id] += jobs
    return found
