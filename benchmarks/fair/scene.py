"""What a scenario plays on: one queue with its tenants and workers, the bell, and a note of each submit."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import psycopg
import redis

from . import history, usage
from .bell import END, START, Bell, Ring
from .engines import Engines
from .history import Limits, Run
from .peers import Peer, PeerError, Worker

Figures = dict[str, float | None]

WARM, WARM_SLOTS = "warm", 1000  # a tenant whose jobs only show that all workers run
WARM_PATIENCE, WARM_SECONDS = 180.0, 0.2
FULL_PATIENCE = 15.0
BULK = 200  # jobs in one submit
POLL = 0.02
SESSIONS = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


@dataclass(frozen=True)
class Job:
    """A job that was submitted.

    submitted: the moment at which the submit returned.
    """

    id: int
    tenant: str
    submitted: float


class Scene:
    """One queue in one scenario.

    scale: of the times of the scenario: 1, or less for a short look.
    long: whether a scenario shall play its long form.
    """

    def __init__(
        self, peer: Peer, bell: Bell, engines: Engines, urls: dict[str, str], *, scale: float = 1.0, long: bool = False
    ) -> None:
        self.peer, self.bell, self.engines, self.urls = peer, bell, engines, urls
        self.scale, self.long = scale, long
        self.limits = Limits()
        self.jobs: dict[int, Job] = {}
        self.workers: list[Worker] = []
        self.setup_seconds = 0.0
        self.asked_at_once = 0
        self._meant = 1
        self._number = 0

    @property
    def rings(self) -> list[Ring]:
        """Those of the scenario: without the warm-up."""
        return [ring for ring in self.bell.rings if ring.tenant != WARM]

    def setup(self, tenants: dict[str, int]) -> None:
        """Tell the queue its tenants, by slots."""
        since = time.monotonic()
        self.peer.setup(self.urls, {**tenants, WARM: WARM_SLOTS})
        self.setup_seconds = time.monotonic() - since
        for tenant, slots in tenants.items():
            self.limits.set(tenant, slots, since)

    def start(self, workers: int, at_once: int, *, filled: bool = False) -> None:
        """Start workers for so many bodies at once each, and wait until all have run some. Raises PeerError.

        filled: jobs wait already, and no job of the warm-up would come before them; so wait until as many bodies run
        as were asked for. With a queue that never runs so many it is over after FULL_PATIENCE.
        """
        most = self.peer.about["most_at_once"] or at_once * workers
        at_once = min(at_once, most // workers)
        self.asked_at_once, self._meant = at_once * workers, workers
        for _ in range(workers):
            self.more(at_once)
        many = self.asked_at_once
        if filled:
            self.wait(lambda: bool(self.rings), WARM_PATIENCE, "the first bodies run")
            self.wait(lambda: self.running() >= many, FULL_PATIENCE)
            return
        bodies = [_body(-1 - n, WARM_SECONDS) for n in range(many)]
        for begin in range(0, many, BULK):
            self.peer.submit(WARM, bodies[begin : begin + BULK])
        self.wait(lambda: self._warmed() >= many, WARM_PATIENCE, "the first bodies run")
        time.sleep(WARM_SECONDS)

    def more(self, at_once: int) -> Worker:
        """Start one more worker. WORKERS: how many are meant to run, for a queue whose limits are those of a worker."""
        worker = self.peer.worker(at_once, {"BELL": self.bell.address, "WORKERS": str(self._meant)})
        self.workers.append(worker)
        return worker

    def submit(self, tenant: str, seconds: Sequence[float]) -> None:
        """Submit a job for each of these times at once."""
        first = self._number + 1
        self._number += len(seconds)
        numbers = range(first, first + len(seconds))
        self.peer.submit(tenant, [_body(id, each) for id, each in zip(numbers, seconds, strict=True)])
        moment = time.monotonic()
        self.jobs.update({id: Job(id, tenant, moment) for id in numbers})

    def fill(self, tenant: str, seconds: Iterable[float]) -> None:
        """Submit many, so many at once as one submit takes."""
        rest = iter(seconds)
        while part := list(islice(rest, BULK)):
            self.submit(tenant, part)

    def pace(self, arrivals: Iterable[tuple[float, str, list[float]]], since: float) -> None:
        """Submit the jobs of each arrival (seconds after `since`, tenant, seconds of its jobs) when it is due."""
        for at, tenant, seconds in arrivals:
            time.sleep(max(0.0, since + at - time.monotonic()))
            self.submit(tenant, seconds)

    def limit(self, tenant: str, slots: int) -> float:
        """Change a limit; return the moment of the call.

        A higher one counts from the call on, a lower one from its return on.
        """
        asked = time.monotonic()
        self.peer.limit(tenant, slots)
        higher = slots > self.limits.last(tenant)
        self.limits.set(tenant, slots, asked if higher else time.monotonic())
        return asked

    def wait(self, met: Callable[[], bool], patience: float, what: str = "", *, every: float = POLL) -> bool:
        """Wait until `met`. After so many seconds return False, or raise PeerError if it was necessary (`what`)."""
        deadline = time.monotonic() + patience
        while not met():
            if what and not any(worker.alive for worker in self.workers):
                raise PeerError(f"The workers have ended: {_last_line(self.workers)}")
            if time.monotonic() > deadline:
                if what:
                    raise PeerError(f"Not within {patience:g} s: {what}. {_last_line(self.workers)}")
                return False
            time.sleep(every)
        return True

    def meter(self) -> "Meter":
        return Meter(self)

    def waits(self, jobs: Iterable[Job], end: float) -> list[float]:
        """Seconds from each job's submit to its first start; one that has not begun waits until the end at least."""
        started: dict[int, float] = {}
        for run in self.runs():
            started.setdefault(run.id, run.start)
        return [max(0.0, min(started.get(job.id, end), end) - job.submitted) for job in jobs]

    def wait_figures(self, jobs: Iterable[Job], end: float) -> Figures:
        """The waits of these jobs, as of the moment `end`."""
        waits = self.waits(jobs, end)
        shares = {f"wait_p{percent}_s": history.quantile(waits, percent) for percent in (50, 95, 99)}
        return {**shares, "wait_worst_s": max(waits)}

    def running(self) -> int:
        """How many bodies run now."""
        return sum(1 if ring.event == START else -1 for ring in self.rings)

    def runs(self) -> list[Run]:
        return history.runs(self.rings)

    def bounds(self) -> Figures:
        """The starts beyond a limit, and the tenant that was furthest beyond its own, or nearest to it."""
        found = history.at_once(self.rings, self.limits)
        worst = max(found.values(), key=lambda tenant: (tenant.most - tenant.limit, tenant.most), default=None)
        return {
            "violations": sum(tenant.over for tenant in found.values()),
            "most": worst.most if worst else 0,  # bodies of that tenant
            "limit": worst.limit if worst else 0,
            "at_once": self.asked_at_once,
        }

    def connections(self) -> Figures:
        """Sessions at the run's database and connections to Redis, but the caller's."""
        with psycopg.connect(self.urls["postgresql"]) as server:
            row = server.execute(SESSIONS).fetchone()
        with redis.Redis.from_url(self.urls["redis"]) as server_of_redis:
            clients = len(server_of_redis.client_list()) - 1
        return {
            "sessions": int(row[0]) if row else 0,
            "redis_connections": clients if "redis" in self.peer.about["needs"] else None,
        }

    def memory(self) -> float:
        """MiB of all workers."""
        return usage.memory_mib(worker.pid for worker in self.workers)

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
        self.peer.close()

    def _warmed(self) -> int:
        return sum(ring.tenant == WARM and ring.event == END for ring in list(self.bell.rings))


class Meter:
    """CPU since its creation: of the workers and of the engines that the queue needs."""

    def __init__(self, scene: Scene) -> None:
        engines, needs = scene.engines, scene.peer.about["needs"]
        pids = {"postgresql": engines.postgresql_pid, "redis": engines.redis_pid}
        self._workers = [worker.pid for worker in scene.workers]
        self._engines = [pid for name, pid in pids.items() if name in needs]
        self._scene = scene
        self._begin, self._before = time.monotonic(), self._read()

    def read(self) -> Figures:
        """jobs_per_s: ends of bodies since the begin; cpu_ms_per_job: of workers and engines together."""
        end = time.monotonic()
        cpu = self._read() - self._before
        done = sum(ring.event == END and self._begin <= ring.moment < end for ring in self._scene.rings)
        lasted = end - self._begin
        return {
            "jobs_per_s": done / lasted,
            "cpu_ms_per_job": cpu / done * 1000 if done else None,
            "cpu_ms_per_s": cpu / lasted * 1000,
        }

    def _read(self) -> float:
        return usage.cpu_seconds([*self._workers, *self._engines])


def _body(id: int, seconds: float) -> dict[str, object]:
    return {"id": id, "seconds": seconds, "kind": "sleep"}


def _last_line(workers: Iterable[Worker]) -> str:
    for worker in workers:
        lines = worker.log.read_text(errors="replace").strip().splitlines()
        if lines:
            return lines[-1][:300]
    return ""
