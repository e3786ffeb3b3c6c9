"""An installation whose PostgreSQL may be replaced by its standby, or by its own past."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from embedded import fleet
from embedded.process import Process
from embedded.processes import Processes
from jobs.models import Job, Worker
from jobs.worker import message
from tests.chaos import own_engines
from tests.chaos.load import light_pool
from tests.chaos.standby import Pair, Server
from tests.chaos.world import LIGHT
from tests.factories import ThingFactory
from tests.sample.models import Thing
from tests.waiting import wait_until
from tests.warm import WarmProcesses

CONCURRENCY = 4
QUICK = {"DJANGO_SETTINGS_MODULE": "tests.settings", "JOBS_BEAT_INTERVAL": "1", "JOBS_HAND_OVER_TIMEOUT": "2"}


@dataclass
class Installation:
    """directory: of the files that let bodies go on. evidence: that they started, in a file."""

    directory: Path
    environ: dict[str, str]
    processes: Processes
    pair: Pair
    evidence: Path
    workers: list[Process] = field(default_factory=list)

    def start_workers(self, count: int) -> None:
        """Of four processes each; supervised, as in production. Returns when they are registered."""
        for _ in range(count):
            name = f"worker{len(self.workers) + 1}-{os.getpid()}"
            command = fleet.worker("default", CONCURRENCY, name, self.environ)
            log = self.directory / f"{name}.log"
            self.workers.append(self.processes.start(name, *command, log=log, restart=True))
        pids = [worker.pid for worker in self.workers]
        wait_until(lambda: Worker.objects.filter(pid__in=pids, gone_at=None).count() == len(pids), "workers register")

    def start_light_worker(self) -> None:
        """Make the light pool with its queue, and start a worker of it."""
        light_pool()
        name = f"light-{os.getpid()}"
        command = fleet.worker(LIGHT, 2, name, self.environ)
        worker = self.processes.start(name, *command, log=self.directory / f"{name}.log", restart=True)
        wait_until(lambda: Worker.objects.filter(pid=worker.pid, gone_at=None).exists(), "it registers")

    def promote(self) -> None:
        """The standby takes over, and Django is on it."""
        self.pair.promote()
        own_engines.wait_for_database()

    def file(self, name: str) -> str:
        return str(self.directory / name)

    def release(self, name: str) -> None:
        """Let the bodies that wait for the file of this name go on."""
        Path(self.file(name)).touch()

    def bodies(self) -> Iterator[tuple[int, int]]:
        """Each start of a body: its job, its process."""
        for line in self.evidence.read_text().splitlines():
            job_id, _attempt, pid, _moment = line.split()
            yield int(job_id), int(pid)

    def run(self, ids: list[int], times: int = 1) -> list[int]:
        """Wait until so many bodies of each of these have started; the processes of the last ones."""

        def all_run() -> bool:
            started = Counter(job_id for job_id, _ in self.bodies())
            return all(started[job_id] >= times for job_id in ids)

        wait_until(all_run, f"bodies of {ids} start")
        last = dict(self.bodies())
        return [last[job_id] for job_id in ids]

    def holding(self, thing: Thing, name: str, count: int, method: str = "hold") -> list[int]:
        """Jobs that run by now, until `release(name)`. method: `light_hold` for the light worker."""
        ids = [getattr(thing.async_, method)(self.file(name)) for _ in range(count)]
        self.run(ids)
        return ids

    def every_process_is_of_use(self) -> None:
        """As many jobs as there are processes run at the same moment, each in a process that lives."""
        everybody = ThingFactory(tenant__queue__num_slots=100)
        ids = self.holding(everybody, "all", CONCURRENCY * len(self.workers))
        running = dict(Job.objects.filter(slot__isnull=False, status="running").values_list("pk", "worker_pid"))
        assert running == dict(zip(ids, self.run(ids), strict=True))
        assert {psutil.Process(pid).ppid() for pid in running.values()} == {worker.pid for worker in self.workers}
        self.release("all")
        wait_until(lambda: Job.objects.filter(pk__in=ids, status="success").count() == len(ids), "they end")


@contextmanager
def installation(directory: Path, *, session: str, synchronous: bool = False) -> Iterator[Installation]:
    """A PostgreSQL with a standby, and Django on both; workers are yours to start. session: see Pair.url."""
    app = message.run_attempt.app
    with app.connection_for_write() as fresh:  # the broker and the cache are everybody's
        app.control.purge(connection=fresh)
    evidence = directory / "evidence"
    evidence.touch()
    with own_engines.running(directory) as engines, WarmProcesses() as processes:
        pair = Pair(Server(directory, engines.postgresql), processes, synchronous=synchronous)
        url = pair.url(session)
        ours = {**os.environ, **QUICK, "DATABASE_URL": url, "CHAOS_EVIDENCE": str(evidence)}
        with pytest.MonkeyPatch.context() as patch, own_engines.on(url, patch):
            installation_here = Installation(directory, ours, processes, pair, evidence)
            try:
                yield installation_here
            finally:
                for worker in installation_here.workers:  # nobody need wait for a stop in good order
                    worker.restart = False
                    worker.signal_group(signal.SIGKILL)
