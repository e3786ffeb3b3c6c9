"""Jobs that fill a worker of either kind until a file lets them end, of two tenants who are strangers to each other."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from embedded.process import Process
from jobs import store
from jobs.lifecycle import FINAL
from jobs.models import Job, Pool, Queue
from tests.factories import ThingFactory
from tests.sample.light_load import QUEUE
from tests.sample.models import Thing
from tests.waiting import wait_until

PROCESSES = 2


@dataclass(frozen=True)
class Kind:
    """Of a pool. seats: of each process. method: of a thing, which holds a seat. crash: for each if one dies full."""

    pool: str
    seats: int
    method: str
    crash: int


KINDS = {"ordinary": Kind("default", 1, "hold", 1), "light": Kind(QUEUE, 12, "light_hold", 0)}


@dataclass
class Work:
    """What a worker of that kind has to do. evidence: of each body that has started. tenants: two strangers."""

    kind: Kind
    directory: Path
    evidence: Path
    start: Callable[[str, int], Process]
    tenants: list[Thing] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evidence.touch()
        if self.kind.seats > 1:
            Queue.objects.create(name=QUEUE, pool=self.kind.pool)
            Pool.objects.create(name=self.kind.pool, kind="light", seats=self.kind.seats)
        slots = 2 * PROCESSES * self.kind.seats
        self.tenants = [ThingFactory(tenant__queue__num_slots=slots) for _ in range(2)]

    def start_worker(self, processes: int = PROCESSES) -> Process:
        return self.start(self.kind.pool, processes)

    def submit(self, number: int, file: str = "go") -> list[int]:
        """So many jobs, of both tenants in turn."""
        methods = [getattr(self.tenants[n % 2].async_, self.kind.method) for n in range(number)]
        ids = [method(str(self.directory / file)) for method in methods]
        self.ids += ids
        return ids

    def fill(self, file: str = "go") -> list[int]:
        """Submit a job for each seat of one worker; wait until all run."""
        ids = self.submit(PROCESSES * self.kind.seats, file)
        self.run(ids)
        return ids

    def run(self, ids: list[int], attempt: int = 1) -> None:
        """Wait until the bodies of that attempt have started."""
        wait_until(lambda: all((job_id, attempt) in self.bodies() for job_id in ids), f"bodies of {ids} start")

    def bodies(self) -> Counter[tuple[int, int]]:
        """How often the body of each attempt has started."""
        lines = [line.split() for line in self.evidence.read_text().splitlines()]
        return Counter((int(job_id), int(attempt)) for job_id, attempt, *_ in lines)

    def pids(self) -> set[int]:
        """The processes that hold an attempt."""
        return set(Job.objects.filter(status="running").values_list("worker_pid", flat=True))

    def release(self, file: str = "go") -> None:
        """Let the bodies that wait for this file end."""
        (self.directory / file).touch()

    def ended(self, ids: list[int] | None = None, first: int = 1) -> set[tuple[str, int, int]]:
        """Wait until these have ended (all): status, attempt and crashes. From the first attempt whose body has started
        on, each has started once.
        """
        jobs = Job.objects.filter(pk__in=self.ids if ids is None else ids)
        wait_until(lambda: not jobs.exclude(status__in=FINAL).exists(), "all jobs end")
        attempts = [
            (pk, attempt) for pk, last in jobs.values_list("pk", "attempt") for attempt in range(first, last + 1)
        ]
        bodies = {key: times for key, times in self.bodies().items() if ids is None or key[0] in ids}
        assert bodies == dict.fromkeys(attempts, 1)
        assert not [job.pk for job in jobs if job.stats["attempt"] != job.attempt]
        return set(jobs.values_list("status", "attempt", "crashes"))

    def nothing_is_left(self) -> None:
        """No slot is taken, and the books say so."""
        wait_until(lambda: not Job.objects.filter(slot__isnull=False).exists(), "all slots are free")
        assert store.recount_books() == []
