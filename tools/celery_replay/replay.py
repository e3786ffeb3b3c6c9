"""Replay recorded tasks by the rules of jobs: slots for each tenant, fair turns. It knows neither Django nor Celery."""

import heapq
import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from jobs.allocation import order
from jobs.allocation.room import left


@dataclass(frozen=True)
class Seen:
    """A task as it was recorded: moments in seconds."""

    tenant: str
    ready: float
    started: float
    ended: float

    @property
    def wait(self) -> float:
        return max(self.started - self.ready, 0.0)

    @property
    def seconds(self) -> float:
        return max(self.ended - self.started, 0.0)


def read(lines: Iterable[str]) -> Iterator[Seen]:
    """The tasks of a record. Raises ValueError with the number of a line that is none."""
    for number, line in enumerate(lines, start=1):
        try:
            event = json.loads(line)
            yield Seen(str(event["tenant"]), float(event["ready"]), float(event["started"]), float(event["ended"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} is no record of a task: {error!r}") from None


def peak(tasks: Iterable[Seen]) -> int:
    """The most tasks that ran at once: so many processes there were at least."""
    changes = sorted(change for task in tasks for change in ((task.started, 1), (task.ended, -1)))
    running = highest = 0
    for _, change in changes:
        running += change
        highest = max(highest, running)
    return highest


def replay(tasks: Sequence[Seen], *, processes: int, slots: Mapping[str, int] | int) -> list[float]:
    """The seconds that each task would have waited, in the order of the tasks.

    slots: of every tenant, or by name; a tenant without a number has no limit. Within a tenant the first come is the
    first served. Among tenants with a free slot the one that has used the least time goes first.
    """
    return _Replay(tasks, processes, slots).run()


class _Replay:
    def __init__(self, tasks: Sequence[Seen], processes: int, slots: Mapping[str, int] | int) -> None:
        self._tasks = tasks
        self._free = processes
        self._slots = slots
        self._coming = deque(sorted(range(len(tasks)), key=lambda n: tasks[n].ready))
        self._waiting: defaultdict[str, deque[int]] = defaultdict(deque)
        self._running: list[tuple[float, int]] = []  # a heap: the end, the task
        self._in_use: Counter[str] = Counter()
        self._used: defaultdict[str, float] = defaultdict(float)  # seconds
        self._waits = [0.0] * len(tasks)

    def run(self) -> list[float]:
        while self._coming or self._running:
            next_end = self._running[0][0] if self._running else inf
            now = min(next_end, self._tasks[self._coming[0]].ready if self._coming else inf)
            self._end(now)
            self._arrive(now)
            self._start(now)
        return self._waits

    def _end(self, now: float) -> None:
        while self._running and self._running[0][0] <= now:
            task = self._tasks[heapq.heappop(self._running)[1]]
            self._free += 1
            self._in_use[task.tenant] -= 1
            self._used[task.tenant] += task.seconds

    def _arrive(self, now: float) -> None:
        while self._coming and self._tasks[self._coming[0]].ready <= now:
            number = self._coming.popleft()
            tenant = self._tasks[number].tenant
            if not self._waiting[tenant] and not self._in_use[tenant]:  # it was idle, and gets no credit for that
                busy = [self._used[tenant] for tenant in self._used if self._waiting[tenant] or self._in_use[tenant]]
                self._used[tenant] = order.at_least(self._used[tenant], min(busy, default=0.0), weight=1)
            self._waiting[tenant].append(number)

    def _start(self, now: float) -> None:
        while self._free and (able := [tenant for tenant, line in self._waiting.items() if line and self._may(tenant)]):
            tenant = min(able, key=lambda tenant: order.turn(self._used[tenant], self._in_use[tenant], weight=1))
            number = self._waiting[tenant].popleft()
            self._waits[number] = now - self._tasks[number].ready
            self._free -= 1
            self._in_use[tenant] += 1
            heapq.heappush(self._running, (now + self._tasks[number].seconds, number))

    def _may(self, tenant: str) -> bool:
        slots = self._slots if isinstance(self._slots, int) else self._slots.get(tenant)
        return left(slots, self._in_use[tenant]) > 0


@dataclass(frozen=True)
class Waits:
    """Seconds that half and 95 of 100 of the tasks waited at most, and the longest wait."""

    p50: float
    p95: float
    longest: float


@dataclass(frozen=True)
class Compared:
    """A tenant's tasks: how many, the seconds that they ran, how they waited and how they would have waited."""

    tenant: str
    tasks: int
    seconds: float
    was: Waits
    would_be: Waits


def compare(tasks: Sequence[Seen], waits: Sequence[float]) -> list[Compared]:
    """By tenant; the one with the most work first."""
    by_tenant: defaultdict[str, list[tuple[Seen, float]]] = defaultdict(list)
    for task, wait in zip(tasks, waits, strict=True):
        by_tenant[task.tenant].append((task, wait))
    compared = [
        Compared(
            tenant,
            len(pairs),
            sum(task.seconds for task, _ in pairs),
            _waits([task.wait for task, _ in pairs]),
            _waits([wait for _, wait in pairs]),
        )
        for tenant, pairs in by_tenant.items()
    ]
    return sorted(compared, key=lambda line: (-line.seconds, line.tenant))


def _waits(seconds: list[float]) -> Waits:
    ordered = sorted(seconds)
    return Waits(*(ordered[max(ceil(len(ordered) * share), 1) - 1] for share in (0.5, 0.95, 1.0)))
