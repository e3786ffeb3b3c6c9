"""Count the waiting jobs at each gate: the gates of `explain`, for all lanes at once. Pure.

A job waits at the first gate that is closed for it now, whatever its place in its lane, as in `explain`.
Apart from that, `pools` counts the jobs that more processes would run at once: those that all limits would let go.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.allocation import gates
from jobs.allocation.gates import Gate
from jobs.allocation.room import room_of
from jobs.reading.looking import Lane, Queue, Worker

PROCESS = frozenset({Gate.NO_WORKER, Gate.POOL_FULL, Gate.NEXT})  # the gates that more processes would open


@dataclass(frozen=True)
class Cut:
    """Jobs of a lane that wait at a gate.

    tenant_id: None for lanes that were not read one by one.
    """

    tenant_id: int | None
    queue_id: int
    gate: Gate
    jobs: int


@dataclass(frozen=True)
class PoolDemand:
    """A pool of workers, and its jobs.

    processes: of its live workers; in a light pool their seats.
    in_use: jobs that run there or are on their way.
    may_run: jobs that more processes would run.
    first_since: the earliest moment at which one of the first of these jobs became ready.
    late: those of them that an earlier look of the recorder found, too.
    late_seconds: the time since a look first found one of these.
    idle_looks: how many looks in a row found one of them beside an idle process.
    is_light: whether its workers have many seats in a process.
    """

    name: str
    processes: int
    in_use: int
    may_run: int
    first_since: datetime | None
    late: int = 0
    late_seconds: float = 0.0
    idle_looks: int = 0
    is_light: bool = False

    @property
    def unit(self) -> str:
        """Return the word for what runs one attempt there."""
        return "seat" if self.is_light else "process"

    @property
    def units(self) -> str:
        return "seats" if self.is_light else "processes"

    @property
    def demand(self) -> int:
        """The processes that would be busy if there were enough."""
        return self.in_use + self.may_run

    @property
    def is_short(self) -> bool:
        """Return whether jobs certainly lack a process, and are not just being claimed."""
        return self.late > 0 or (self.may_run > 0 and not self.processes)

    @property
    def missing(self) -> int:
        return max(self.demand - self.processes, 0)


def cuts(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> list[Cut]:
    """Return the gates at which the jobs of each lane wait."""
    return [
        Cut(lane.tenant_id, lane.queue_id, gate, jobs)
        for lane in lanes
        if lane.queue_id in queues  # the queue came, or went, between two looks
        for gate, jobs in _cut(lane, queues[lane.queue_id])
        if jobs
    ]


def _cut(lane: Lane, queue: Queue) -> Iterator[tuple[Gate, int]]:
    for gate in _closed(lane, queue):
        yield gate, lane.waiting
        return
    yield Gate.USER_FULL, lane.of_full_users
    yield _at_pool(queue), lane.waiting - lane.of_full_users


def _at_pool(queue: Queue) -> Gate:
    """Return the gate of the pool at which a job of a queue waits that all limits would let go."""
    return next(gates.of_pool(queue.pool_processes, queue.pool_in_use), Gate.NEXT)


def _closed(lane: Lane, queue: Queue) -> Iterator[Gate]:
    """Yield the gates that are closed for all jobs of a lane, in the order of `allocation.gates.closed`."""
    if lane.gate is not None:
        yield Gate(lane.gate)
    yield from gates.of_queue(queue, queue.tokens)
    if lane.no_tokens:
        yield Gate.TENANT_RATE


def closed(queue: Queue) -> bool:
    """Return whether a queue lets no job go, however many processes there are."""
    return next(gates.of_queue(queue, queue.tokens), None) is not None


def by_gate(cuts: Iterable[Cut]) -> list[tuple[Gate, int]]:
    """Return the number of jobs at each gate, most first."""
    counted: Counter[Gate] = Counter()
    for cut in cuts:
        counted[cut.gate] += cut.jobs
    return counted.most_common()


def pools(lanes: Sequence[Lane], queues: Mapping[int, Queue], workers: Iterable[Worker] = ()) -> list[PoolDemand]:
    """Return the pools of all queues and of `workers`, by name."""
    others: Counter[str] = Counter()
    light = set()
    for worker in workers:
        if worker.gone_at is None:
            others[worker.pool] += worker.concurrency
            light |= {worker.pool} if worker.is_light else set()
    queue_of_pool = {queue.pool: queue for queue in queues.values()}  # each has the numbers of its pool
    processes = {**others, **{name: queue.pool_processes for name, queue in queue_of_pool.items()}}
    jobs = may_run(lanes, queues)
    first = [(queues[lane.queue_id].pool, lane.first_since) for lane in lanes if lane.passing and jobs[lane.queue_id]]
    pools = []
    for name in sorted(processes):
        n, queue = sum(jobs[pk] for pk, queue in queues.items() if queue.pool == name), queue_of_pool.get(name)
        since = min((moment for pool, moment in first if pool == name and moment), default=None)
        late = (min(queue.late, n), queue.late_seconds, queue.idle_looks) if queue and n else (0, 0.0, 0)
        in_use = queue.pool_in_use if queue else 0
        pools.append(PoolDemand(name, processes[name], in_use, n, since, *late, name in light))
    return pools


def may_run(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> Counter[int]:
    """Count the jobs of each queue that more processes would run. The room that a lane uses is gone for the next."""
    room = {pk: 0.0 if queue.paused or queue.held else room_of(queue, queue.tokens) for pk, queue in queues.items()}
    jobs_of_queue: Counter[int] = Counter()
    for lane in lanes:
        jobs = int(min(lane.passing, room.get(lane.queue_id, 0)))
        if jobs:
            room[lane.queue_id] -= jobs
            jobs_of_queue[lane.queue_id] += jobs
    return jobs_of_queue


def could_start(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> Counter[Gate]:
    """Count the jobs of `may_run` by the gate at which they wait."""
    by_gate: Counter[Gate] = Counter()
    for pk, jobs in may_run(lanes, queues).items():
        by_gate[_at_pool(queues[pk])] += jobs
    return by_gate
