"""Replay recorded tasks by the rules of the claim: slots for each tenant, fair turns.

It needs neither a database nor Celery.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter

from jobs.allocation.books import Books
from jobs.allocation.state import Queue, Tenant
from jobs.allocation.world import IdleGaps, SimulatedJob, World


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
    """Return the seconds that each task would have waited, in the order of the tasks.

    slots: those of every tenant, or by name; a tenant without a number may use all processes
    """
    begin = min((task.ready for task in tasks), default=0.0)
    books = Books()
    queue = books.add_queue(Queue(id=1, pool=books.pool("", processes)))
    ids: dict[str, int] = {}
    for name in dict.fromkeys(task.tenant for task in tasks):
        own = slots if isinstance(slots, int) else slots.get(name, processes)
        ids[name] = books.add_tenant(Tenant(id=len(ids) + 1, num_slots=own)).id
    jobs = [
        SimulatedJob(
            place=0, tenant=ids[task.tenant], queue=queue.id, ready_at=task.ready - begin, seconds=task.seconds
        )
        for task in tasks
    ]
    coming = sorted(jobs, key=attrgetter("ready_at"))
    for place, job in enumerate(coming, start=1):
        job.place = place
    world = World(books, now=0.0, idle_gaps=IdleGaps(between=0.0, handover=0.0), coming=coming)
    while world.step():
        world.started.clear()
    return [(job.started_at or 0.0) - job.ready_at for job in jobs]


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
