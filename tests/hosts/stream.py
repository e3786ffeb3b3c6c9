"""What a test of hosts runs: short jobs, one after the other, and jobs that are held until a file is there."""

import threading
import time
from collections.abc import Collection
from itertools import pairwise

from django.db import DatabaseError, InterfaceError, connection

from jobs.lifecycle import FINAL
from jobs.models import Job
from tests.chaos import verdict
from tests.factories import ThingFactory
from tests.hosts.scheduler import Scheduler
from tests.sample.models import Thing
from tests.waiting import wait_until

PAUSE = 0.15  # seconds between two submits
SLOTS = 3  # of each of the three tenants
SOON = 30.0  # seconds within which those that are whole go on, on a busy machine


class Stream:
    """Submits short jobs while it is open, some with a delay. accepted: and when. failed: when a submit was refused."""

    def __init__(self) -> None:
        self.accepted: dict[int, float] = {}
        self.failed: list[float] = []
        self._things = [ThingFactory(tenant__queue__num_slots=SLOTS) for _ in range(3)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)

    def __enter__(self) -> "Stream":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(PAUSE):
            number += 1
            delay = {"delay": 0.2} if number % 4 == 0 else {}
            try:
                job_id = self._things[number % 3].async_(**delay).work(number, seconds=0.0)
            except (DatabaseError, InterfaceError):
                self.failed.append(time.time())
                connection.close()
            else:
                self.accepted[job_id] = time.time()
        connection.close()

    def goes_on(self, count: int = 10, limit: float = SOON) -> None:
        """Wait until so many jobs that are submitted from now on have ended."""
        now = time.time()

        def ended() -> bool:
            since = [job_id for job_id, moment in list(self.accepted.items()) if moment > now]
            return Job.objects.filter(pk__in=since, status__in=FINAL).count() >= count

        wait_until(ended, "the others go on", limit)


def hold(scheduler: Scheduler, thing: Thing, name: str, count: int) -> list[int]:
    """Submit jobs that run until `release`; wait until they run."""
    ids = [thing.async_.hold(str(scheduler.directory / name)) for _ in range(count)]
    wait_until(lambda: Job.objects.filter(pk__in=ids, status="running").count() == count, f"{name}: {count} jobs run")
    return ids


def release(scheduler: Scheduler, name: str) -> None:
    (scheduler.directory / name).touch()


def all_end() -> None:
    wait_until(lambda: verdict.unfinished() == 0, "every job is final")


def counts(ids: Collection[int]) -> dict[int, tuple[str, int, int]]:
    """Status, attempt and crashes of each."""
    found = Job.objects.filter(pk__in=ids).values_list("pk", "status", "attempt", "crashes")
    return {pk: (status, attempt, crashes) for pk, status, attempt, crashes in found}


def longest_pause(scheduler: Scheduler, begin: float, end: float) -> float:
    """The longest time, in seconds, in which no body began between these two moments."""
    moments = sorted(moment for _, _, moment in scheduler.bodies() if begin <= moment <= end)
    return max((later - earlier for earlier, later in pairwise([begin, *moments, end])), default=0.0)


def all_processes_are_of_use(scheduler: Scheduler, processes: dict[str, int]) -> None:
    """As many jobs as each host has processes run there at the same moment."""
    ids = hold(scheduler, ThingFactory(tenant__queue__num_slots=100), "all", sum(processes.values()))
    for name, count in processes.items():
        worker = scheduler.worker(name)
        assert Job.objects.filter(pk__in=ids, worker=worker.pk, status="running").count() == count, name
    release(scheduler, "all")
    all_end()
