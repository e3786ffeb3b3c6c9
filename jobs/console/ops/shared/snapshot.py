"""The snapshot of the present that all pages show: one look for any number of viewers, taken only when one asks.

A web process looks at most every two seconds. The work (lanes, slots, queues, tenants, workers) is one part, read in
one transaction: numbers that come from several of these, such as the demand of a pool, are then of one moment. A look
that fails leaves its part as it was; the pages then show how old the part is. A look that takes long (10,000 lanes)
rests REST times as long before the next one, so that it takes less than a hundredth of the database's time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from jobs.allocation.gates import Gate
from jobs.console.ops.shared.present_queries import look_objects
from jobs.models import HELD_UNTIL
from jobs.pages.cached import Cached, cached
from jobs.reading import looking, waits
from jobs.reading.looking import Lane, Queue, SlotsInUse, Tenant, Worker
from jobs.reading.standing import StandingState, TenantStanding, of_tenants
from jobs.reading.waits import Cut, PoolDemand

REFRESH_SECONDS = 2.0
MAX_COUNT = 2_000  # jobs that are counted for one number
REST = 160.0  # times the time that a look took


@dataclass(frozen=True)
class Counts:
    """Numbers of jobs, each at most MAX_COUNT; and the paused job types.

    now: the clock of the database
    paused_types, paused_since: their names, and since when each is paused, in the same order
    """

    now: datetime
    scheduled: int
    held: int
    dead: int
    died_today: int
    died_now: int
    succeeded_now: int
    failed_now: int
    cancelled_now: int
    paused_types: Sequence[str]
    paused_since: Sequence[datetime]

    @property
    def ended_now(self) -> int:
        return self.succeeded_now + self.cancelled_now + self.failing_now

    @property
    def failing_now(self) -> int:
        return self.failed_now + self.died_now


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A snapshot.

    at: when it was taken, by the clock of this host
    old: seconds since the last successful look, by the name of each part whose look failed
    """

    at: datetime
    in_use: list[SlotsInUse] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    tenants: Mapping[int, Tenant] = field(default_factory=dict)
    queues: Mapping[int, Queue] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    counts: Counts | None = None
    old: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def now(self) -> datetime:
        """Return the time by the clock of the database; by that of this host if the counts are missing."""
        return self.counts.now if self.counts else self.at

    @cached_property
    def paused(self) -> Mapping[str, datetime]:
        """Return since when each paused job type is paused, by its name."""
        return dict(zip(self.counts.paused_types, self.counts.paused_since, strict=True)) if self.counts else {}

    @cached_property
    def in_use_by_worker(self) -> Mapping[Any, int]:
        slots: Counter[Any] = Counter()
        for use in self.in_use:
            slots[use.worker] += use.slots
        return slots

    @cached_property
    def waiting(self) -> int:
        return sum(lane.waiting for lane in self.lanes)

    @cached_property
    def about(self) -> bool:
        """Return whether the number of waiting jobs is only approximate."""
        return any(lane.about for lane in self.lanes)

    @cached_property
    def unseen(self) -> int:
        """Return the number of lanes that were only counted, and not looked at one by one."""
        return sum(lane.lanes for lane in self.lanes if lane.tenant_id is None)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Return the waiting jobs by lane and gate."""
        return waits.cuts(self.lanes, self.queues)

    @cached_property
    def gates(self) -> list[tuple[Gate, int]]:
        """Return the number of jobs at each gate, most first."""
        return waits.by_gate(self.cuts)

    def opens_at(self, gate: Gate) -> datetime | None:
        """Return when the next token of the rate limits of a gate arrives; None for other gates."""
        limited: Iterable[Queue | Tenant] = ()
        if gate in (Gate.QUEUE_RATE, Gate.TENANT_RATE):
            limited = self.queues.values() if gate == Gate.QUEUE_RATE else self.tenants.values()
        empty = [row.next_at for row in limited if row.next_at and row.tokens is not None and row.tokens < 1]
        return min(empty, default=None)

    @cached_property
    def pools(self) -> list[PoolDemand]:
        """Return the pools of all queues and of all workers, by name."""
        return waits.pools(self.lanes, self.queues, self.workers)

    @cached_property
    def could_start(self) -> Mapping[Gate, int]:
        """Return how many of the jobs at a gate would start at once with more processes; the pools add up to these."""
        return waits.could_start(self.lanes, self.queues)

    @cached_property
    def standings(self) -> Sequence[TenantStanding]:
        """Return the tenants that have work, those that need attention first."""
        with_work = {use.tenant_id for use in self.in_use} | {lane.tenant_id for lane in self.lanes}
        tenants = [tenant for pk, tenant in self.tenants.items() if pk in with_work]
        standings = of_tenants(tenants, self.lanes, self.queues, self.now, self.cuts)
        return tuple(sorted(standings, key=_need))


def _need(standing: TenantStanding) -> tuple[Any, ...]:
    return list(StandingState).index(standing.state), -standing.waiting, -standing.in_use, standing.tenant.name


def _part(look: Callable[[], Any]) -> Cached[[], Any]:
    """Return a look that each snapshot takes, unless the look rests."""

    def bounded() -> Any:
        with looking.looking():
            return look()

    return Cached(bounded, before=None, seconds=0.0, rest=REST)


def _counts() -> Counts:
    """Count the jobs that are not in line, and read which types are paused."""
    return look_objects(Counts, "look_counts", most=MAX_COUNT, held_until=HELD_UNTIL)[0]


def _work() -> dict[str, Any]:
    """Look at the work; return the fields of a snapshot. Only tenants with slots in use or jobs in line are read."""
    in_use, lanes = looking.look_slots(), looking.look_lanes()
    with_work = {use.tenant_id for use in in_use} | {lane.tenant_id for lane in lanes if lane.tenant_id is not None}
    return {
        "in_use": in_use,
        "lanes": lanes,
        "queues": looking.look_queues(),
        "workers": looking.look_workers(),
        "tenants": looking.look_tenants(with_work),
    }


WORK = "work"
PARTS: Mapping[str, Cached[[], Any]] = {
    WORK: _part(_work),
    "counts": _part(_counts),
}


@cached(REFRESH_SECONDS, before=Snapshot(datetime.min.replace(tzinfo=UTC)))
def current() -> Snapshot:
    """Return the last snapshot; a new one if that is older than REFRESH_SECONDS."""
    work, counts = PARTS[WORK]() or {}, PARTS["counts"]()
    old = {name: age for name, part in sorted(PARTS.items()) if (age := part.age()) is not None}
    return Snapshot(datetime.now(UTC), **work, counts=counts, old=old)


def forget() -> None:
    """Drop the snapshot, so that the next request looks again: an operator has just changed something."""
    for kept in (*PARTS.values(), current):
        kept.forget()
