"""What the waiting jobs wait for, over counts: the gates of `explain`, for all lanes at once. Pure.

Of each lane, the jobs that a gate cuts off wait for that gate; the others go on to the next one. What passes all gates
but finds no process is the operators' own part of the wait. Limits per user are not known to counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from jobs.dashboard.looks import Queue, Tenant
from jobs.dashboard.snapshot import Snapshot
from jobs.engine.explain.gates import Gate

PROCESS = frozenset({Gate.NO_WORKER, Gate.POOL_FULL, Gate.NEXT})  # the gates that more processes would open


@dataclass(frozen=True)
class Cut:
    """Jobs of a lane that wait at a gate."""

    tenant_id: int
    queue_id: int
    gate: Gate
    jobs: int


@dataclass
class Room:
    """What is free now; `pass_through` uses it up."""

    tenants: dict[int, float]
    tenant_tokens: dict[int, float]
    queues: dict[int, float]
    queue_tokens: dict[int, float]
    pools: dict[str, float]
    cuts: list[Cut] = field(default_factory=list)


def cuts(snapshot: Snapshot) -> list[Cut]:
    """Where the waiting jobs of each lane wait."""
    room = _room(snapshot)
    for lane in snapshot.lanes:
        tenant, queue = snapshot.tenants.get(lane.tenant_id), snapshot.queues.get(lane.queue_id)
        if tenant is None or queue is None:
            continue  # it came, or went, between two looks
        left = lane.waiting
        for gate, space in (
            (Gate.TENANT_PAUSED, 0 if tenant.paused else inf),
            (Gate.SLOTS_FULL if tenant.num_slots else Gate.NO_SLOTS, room.tenants[tenant.id]),
            (Gate.QUEUE_PAUSED, 0 if queue.paused else inf),
            (Gate.QUEUE_FULL, room.queues[queue.id]),
            (Gate.QUEUE_RATE, room.queue_tokens[queue.id]),
            (Gate.TENANT_RATE, room.tenant_tokens[tenant.id]),
            (Gate.POOL_FULL if queue.pool_processes else Gate.NO_WORKER, room.pools[queue.pool]),
        ):
            stay = left - int(min(left, max(space, 0)))
            if stay:
                room.cuts.append(Cut(tenant.id, queue.id, gate, stay))
            left -= stay
            if gate == Gate.TENANT_RATE:  # a job that only lacks a process uses up its place all the same
                _use(room, tenant.id, queue.id, left)
        room.pools[queue.pool] -= left
        if left:
            room.cuts.append(Cut(tenant.id, queue.id, Gate.NEXT, left))
    return room.cuts


def by_gate(found: list[Cut]) -> list[tuple[Gate, int]]:
    """The jobs at each gate, most first."""
    counted: Counter[Gate] = Counter()
    for cut in found:
        counted[cut.gate] += cut.jobs
    return counted.most_common()


def opens_at(snapshot: Snapshot, gate: Gate) -> datetime | None:
    """When the next token of a rate limit is there; None for other gates."""
    of: Iterable[Queue | Tenant] = ()
    if gate in (Gate.QUEUE_RATE, Gate.TENANT_RATE):
        of = snapshot.queues.values() if gate == Gate.QUEUE_RATE else snapshot.tenants.values()
    empty = [one.next_at for one in of if one.next_at and one.tokens is not None and one.tokens < 1]
    return min(empty, default=None)


@dataclass(frozen=True)
class Pool:
    """may_run: the jobs that more processes would run. demand: the processes that would be busy."""

    name: str
    processes: int
    held: int
    may_run: int

    @property
    def demand(self) -> int:
        return self.held + self.may_run

    @property
    def missing(self) -> int:
        return max(self.demand - self.processes, 0)


def pools(snapshot: Snapshot, found: list[Cut]) -> list[Pool]:
    """The pools of all queues and all live workers, by name."""
    processes: Counter[str] = Counter()
    for worker in snapshot.workers:
        if worker.gone_at is None:
            processes[worker.pool] += worker.concurrency
    held = {}
    for queue in snapshot.queues.values():
        processes[queue.pool] = queue.pool_processes
        held[queue.pool] = queue.pool_held
    may_run: Counter[str] = Counter()
    for cut in found:
        if cut.gate in PROCESS:
            may_run[snapshot.queues[cut.queue_id].pool] += cut.jobs
    return [Pool(name, processes[name], held.get(name, 0), may_run[name]) for name in sorted(processes)]


def _room(snapshot: Snapshot) -> Room:
    held: Mapping[int, int] = snapshot.held_by_tenant
    return Room(
        {one.id: (one.num_slots or 0) - held.get(one.id, 0) for one in snapshot.tenants.values()},
        {one.id: inf if one.tokens is None else one.tokens for one in snapshot.tenants.values()},
        {one.id: inf if one.concurrency is None else one.concurrency - one.held for one in snapshot.queues.values()},
        {one.id: inf if one.tokens is None else one.tokens for one in snapshot.queues.values()},
        {one.pool: one.pool_processes - one.pool_held for one in snapshot.queues.values()},
    )


def _use(room: Room, tenant_id: int, queue_id: int, jobs: int) -> None:
    for rest, key in (
        (room.tenants, tenant_id),
        (room.tenant_tokens, tenant_id),
        (room.queues, queue_id),
        (room.queue_tokens, queue_id),
    ):
        rest[key] -= jobs
