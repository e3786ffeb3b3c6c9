"""Engines, workers and settings of a chaos run: all of its own, since it kills them."""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path as File

import redis

from embedded import data_dir, engines, fleet
from embedded.process import Process
from embedded.processes import Processes
from tests import migrated
from tests.chaos.standby import Pair, Server
from tests.hosts import Net, parts
from tests.network import Path, paths
from tests.waiting import wait_until
from tests.warm import WarmProcess, WarmProcesses

CONCURRENCY = 2
LIGHT, SEATS = "light", 8  # the pool of the light worker, and the seats of each of its processes
WAYS_TO_STOP: tuple[dict[str, str], ...] = ({}, {"REMAP_SIGTERM": "SIGQUIT"}, {"SAMPLE_SOFT_SHUTDOWN": "1"})
WORKERS = len(WAYS_TO_STOP)
URLS = (engines.DATABASE, engines.BROKER, engines.CACHE)
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "JOBS_BEAT_INTERVAL": "0.5",
    "JOBS_ARCHIVE_AFTER": "0.00005",  # days: 4 seconds
    "JOBS_HAND_OVER_TIMEOUT": "2",
    "JOBS_CANCEL_GRACE": "2",
    "JOBS_MAX_CRASHES": "1000",  # chaos must not bury what it has not caused to be poison
    "LOG_LEVEL": "INFO",
}


@dataclass
class World:
    """What a death may strike. evidence: the file in which each body that starts writes a line.

    paths: those of each worker, to the database, the broker and the cache; none if its ways cannot be cut.
    net: of hosts, if they are: "database0", "database1", "broker", "worker0" and so on, and "people", where we are.
    light: the number of the worker that is a light one; the seed says so, and thereby in which way that one stops.
    lives: whether the database lives on.
    """

    directory: File
    environ: dict[str, str]
    processes: Processes
    broker: Process
    pair: Pair
    light: int
    lives: bool
    workers: list[Process] = field(default_factory=list)
    paths: list[list[Path]] = field(default_factory=list)
    net: Net | None = None

    @property
    def evidence(self) -> File:
        return self.directory / "evidence"

    def engine(self, name: str) -> Process:
        """The running postgresql, the primary, or valkey."""
        return self.pair.primary.process if name == "postgresql" else self.broker

    def valkey(self) -> redis.Redis:
        return redis.Redis.from_url(self.environ[engines.BROKER], socket_timeout=5)

    def start_workers(self) -> None:
        """Supervised, as in production: a worker that ends is started again. Each stops in its way, one is light."""
        for number, way in enumerate(WAYS_TO_STOP):
            name = f"worker{number}"
            pool = LIGHT if number == self.light else "default"
            command = fleet.worker(pool, CONCURRENCY, f"{name}-{os.getpid()}", self.environ | way | self._ways(number))
            log = self.directory / "log" / f"{name}.log"
            # Celery reads this when it is imported, which the warm parent has done.
            kind, processes = Process if "REMAP_SIGTERM" in way else WarmProcess, self.processes
            if self.net:
                host = self.net.host(name)
                kind, processes = host.child(kind), host.processes
            processes.child = kind
            self.workers.append(processes.start(name, *command, log=log, restart=True))

    def _ways(self, number: int) -> dict[str, str]:
        """By which URLs a worker reaches the engines, where they differ from ours."""
        if self.net:
            servers = [self.net.hosts[f"database{place}"] for place in range(2)]
            return {engines.DATABASE: parts.postgresql_url(*servers)}
        return dict(zip(URLS, (path.url for path in self.paths[number]), strict=True)) if self.paths else {}

    def keep_logs(self) -> File:
        """Save them from the end of the run."""
        kept = File(tempfile.mkdtemp(prefix="chaos-"))
        shutil.copytree(self.directory / "log", kept, dirs_exist_ok=True)
        return kept

    def wait_for_workers(self) -> None:
        """Until they are registered."""
        from jobs.models import Worker

        wait_until(lambda: Worker.objects.filter(gone_at=None).count() == WORKERS, "the workers register")


@contextmanager
def created(*, synchronous: bool, light: int, cuts: bool = False, hosts: bool = False) -> Iterator[World]:
    """Engines up, PostgreSQL with a standby, this process' Django set up on them, tables made.

    light: the number of the light worker.
    cuts: the workers' ways to the engines may be cut, and the database lives on.
    hosts: engines and workers have hosts of their own, and so have we.
    """
    with data_dir.throwaway() as directory, WarmProcesses() as processes, ExitStack() as stack:
        ours = {name: value for name, value in os.environ.items() if name not in {*URLS, engines.NAMES}}
        migrated.put(directory)
        if hosts:
            net = stack.enter_context(Net())
            pair, broker, urls = _on_hosts(net, directory, synchronous=synchronous)
            environ = ours | urls
            stack.enter_context(net.host("people").inside())
        else:
            net = None
            environ = stack.enter_context(engines.running(directory, processes, ours, durable=False))
            first, broker = processes
            pair = Pair(Server(directory, first), processes, synchronous=synchronous)
        alone = environ[engines.DATABASE]
        if hosts or not cuts:
            environ[engines.DATABASE] = pair.url("read-write")
        world = World(directory, {**environ, **SETTINGS}, processes, broker, pair, light, cuts, net=net)
        world.environ["CHAOS_EVIDENCE"] = str(world.evidence)
        world.evidence.touch()
        os.environ.update(world.environ)
        _set_up_django()
        for _ in range(WORKERS if cuts and not hosts else 0):
            ways = (alone, environ[engines.BROKER], environ[engines.CACHE])
            world.paths.append(stack.enter_context(paths(*ways)))
        yield world


def _on_hosts(net: Net, directory: File, *, synchronous: bool) -> tuple[Pair, Process, dict[str, str]]:
    """A PostgreSQL with its standby, Valkey, and the URLs of all for us."""
    first, second, broker = (net.host(name) for name in ("database0", "database1", "broker"))
    _, url = parts.start_postgresql(first, directory)
    [server] = first.processes
    with parts.listening(second):
        pair = Pair(Server(directory, server), second.processes, synchronous=synchronous)
    urls = (url, *parts.start_valkey(broker, directory))
    [valkey] = broker.processes
    return pair, valkey, dict(zip(URLS, urls, strict=True))


def _set_up_django() -> None:
    import django

    import scheduler_project.celery  # noqa: F401  # the app that carries messages

    django.setup()
    logging.disable()  # of this process: what goes wrong here is the verdict's to say
