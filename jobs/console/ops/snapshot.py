"""What all pages show of the present moment: one look for any number of viewers, taken only when one asks.

A web process looks at most every two seconds. While one thread looks, the others get the last snapshot. A look that
fails leaves its part as it was, and the part gets old: pages say so. A look that takes long (10,000 lanes) is not taken
again before it has rested REST times as long, so that it takes less than a hundredth of the database's time.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db import DatabaseError

from jobs.allocation.gates import Gate
from jobs.console.ops import looks
from jobs.console.ops.looks import Counts, Tenant, Worker
from jobs.reading import looking, waits
from jobs.reading.looking import Held, Lane, Queue
from jobs.reading.waits import Cut, Pool

FRESH = 2.0  # seconds
REST, LONGEST_REST = 160.0, 10.0  # times the time that a look took; seconds
LOOKS: Mapping[str, Callable[[], Any]] = {
    "held": looking.look_held,
    "lanes": looking.look_lanes,
    "queues": looking.look_queues,
    "workers": looks.workers,
    "counts": looks.counts,
}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """at: when it was taken, by the clock of this machine. old: seconds since each part that failed was read.

    just_read: the parts that were read for this snapshot; the others rest, or failed.
    """

    at: datetime
    held: list[Held] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    tenants: Mapping[int, Tenant] = field(default_factory=dict)
    queues: Mapping[int, Queue] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    counts: Counts | None = None
    old: Mapping[str, float] = field(default_factory=dict)
    just_read: frozenset[str] = frozenset()

    def has_just_read(self, *parts: str) -> bool:
        """Whether these parts are as new as this snapshot."""
        return self.just_read.issuperset(parts)

    @cached_property
    def now(self) -> datetime:
        """The database's clock."""
        return self.counts.now if self.counts else self.at

    @cached_property
    def held_by_tenant(self) -> Mapping[int, int]:
        return _sum((one.tenant_id, one.held) for one in self.held)

    @cached_property
    def held_by_worker(self) -> Mapping[Any, int]:
        return _sum((one.worker, one.held) for one in self.held)

    @cached_property
    def waiting_by_queue(self) -> Mapping[int, int]:
        return _sum((lane.queue_id, lane.waiting) for lane in self.lanes)

    @cached_property
    def waiting(self) -> int:
        return sum(lane.waiting for lane in self.lanes)

    @cached_property
    def about(self) -> bool:
        """Whether the number of waiting jobs is not exact."""
        return any(lane.about for lane in self.lanes)

    @cached_property
    def unseen(self) -> int:
        """The lanes that were not looked at one by one."""
        return sum(lane.lanes for lane in self.lanes if lane.tenant_id is None)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Where the waiting jobs wait."""
        return waits.cuts(self.lanes, self.queues)

    @cached_property
    def gates(self) -> list[tuple[Gate, int]]:
        """The jobs at each gate, most first."""
        return waits.by_gate(self.cuts)

    def opens_at(self, gate: Gate) -> datetime | None:
        """When the next token of a rate limit is there; None for other gates."""
        of: Iterable[Queue | Tenant] = ()
        if gate in (Gate.QUEUE_RATE, Gate.TENANT_RATE):
            of = self.queues.values() if gate == Gate.QUEUE_RATE else self.tenants.values()
        empty = [one.next_at for one in of if one.next_at and one.tokens is not None and one.tokens < 1]
        return min(empty, default=None)

    @cached_property
    def pools(self) -> list[Pool]:
        """The pools of all queues and of all live workers, by name."""
        processes = _sum((one.pool, one.concurrency) for one in self.workers if one.gone_at is None)
        return waits.pools(self.lanes, self.queues, self.cuts, processes)


def _sum(pairs: Any) -> Mapping[Any, int]:
    counted: Counter[Any] = Counter()
    for key, number in pairs:
        counted[key] += number
    return counted


class Snapshots:
    """The last snapshot of this process."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._last: Snapshot | None = None
        self._read: dict[str, float] = {}
        self._failed: set[str] = set()
        self._rests_until: dict[str, float] = {}
        self._at = float("-inf")

    def current(self) -> Snapshot:
        """A snapshot at most FRESH seconds old, or the last one while another thread looks."""
        last = self._last
        if last is not None and time.monotonic() - self._at < FRESH:
            return last
        if not self._looking.acquire(blocking=last is None):
            assert last is not None  # noqa: S101 - for the type checker
            return last
        try:
            if self._last is None or time.monotonic() - self._at >= FRESH:
                self._last = self._look(self._last or Snapshot(at=datetime.now(UTC)))
                self._at = time.monotonic()
            return self._last
        finally:
            self._looking.release()

    def forget(self) -> None:
        """Look again at the next request: somebody has just changed something."""
        self._rests_until.clear()
        self._at = float("-inf")

    def _look(self, last: Snapshot) -> Snapshot:
        found: dict[str, Any] = {}
        for name, look in LOOKS.items():
            self._one(found, name, look)
        ids = {one.tenant_id for name in ("held", "lanes") for one in found.get(name, getattr(last, name))} - {None}
        self._one(found, "tenants", lambda: looks.tenants(ids))
        now = time.monotonic()
        old = {name: now - self._read[name] for name in sorted(self._failed)}
        return replace(last, at=datetime.now(UTC), old=old, just_read=frozenset(found), **found)

    def _one(self, found: dict[str, Any], name: str, look: Callable[[], Any]) -> None:
        begins = time.monotonic()
        self._read.setdefault(name, begins)
        if begins < self._rests_until.get(name, begins):
            return
        try:
            with looking.looking():
                found[name] = look()
        except DatabaseError:
            self._failed.add(name)  # the page says how old this part is
            return
        self._failed.discard(name)
        self._read[name] = ends = time.monotonic()
        self._rests_until[name] = ends + min(REST * (ends - begins), LONGEST_REST)


_snapshots = Snapshots()
current = _snapshots.current
forget = _snapshots.forget
