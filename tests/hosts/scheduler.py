"""An installation on hosts: PostgreSQL, broker and cache, web and workers each have one of their own.

The process of the test is none of them. It reads PostgreSQL by the Unix socket, which no cut reaches, and submits from
a host of its own.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from embedded import engines
from embedded.process import Process
from jobs.models import Worker
from jobs.store import Claimed
from jobs.worker import message
from tests import migrated
from tests.acceptance.asking import ask
from tests.chaos import own_engines
from tests.hosts import parts
from tests.hosts.host import Host
from tests.hosts.net import Net
from tests.waiting import wait_until

QUICK = {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "JOBS_BEAT_INTERVAL": "1",
    "JOBS_HAND_OVER_TIMEOUT": "3",
    "TELL_OVER_HTTP": "1",
}


@dataclass
class Scheduler:
    """broker: of messages, and the cache. client: where the test submits. environ: of whoever runs on a host.

    directory: of logs and data. evidence: a line for each body that has started.
    """

    net: Net
    broker: Host
    client: Host
    environ: dict[str, str]
    directory: Path
    evidence: Path
    workers: dict[str, Process] = field(default_factory=dict)

    def start_worker(self, name: str, processes: int = 1, **more: str) -> Host:
        """A new host with a supervised worker, which registers later: `wait_for_workers`."""
        host = self.net.host(name)
        self.workers[name] = parts.start_worker(host, self.environ | more, self.directory, processes)
        return host

    def wait_for_workers(self) -> None:
        """Until the worker of each host is registered, alive, and takes messages."""

        def there() -> int:
            pids = [process.pid for process in self.workers.values()]  # anew: a supervisor may have started another
            return Worker.objects.filter(pid__in=pids, gone_at=None, cut_off_at=None, concurrency__gt=0).count()

        wait_until(lambda: there() == len(self.workers), "all workers are there")

    def worker(self, name: str) -> Worker:
        """What PostgreSQL knows of the present worker of that host."""
        return Worker.objects.get(pid=self.workers[name].pid)

    def ask(self, url: str, token: str = "", body: object = None) -> tuple[int, str]:
        """The status and the text of a web process' answer to the client."""
        with self.client.inside():
            return ask(url, token, body)

    def bodies(self) -> list[tuple[int, int, float]]:
        """Each body that has started: its job, its attempt, and when."""
        lines = [line.split() for line in self.evidence.read_text().splitlines()]
        return [(int(job_id), int(attempt), float(moment)) for job_id, attempt, _, moment, *_ in lines]

    def hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Send messages from the client's host: `runtime.changed(carrier=scheduler.hand_over)` of this process."""
        app, url = message.run_attempt.app, self.environ[engines.BROKER]
        options = {"global_keyprefix": f"{settings.DEPLOYMENT}:"}  # which our own broker, RabbitMQ say, may not have
        with self.client.inside(), app.connection_for_write(url, transport_options=options) as connection:
            for job in claimed:
                sent = message.Message(job.id, job.attempt)
                message.run_attempt.apply_async(astuple(sent), task_id=sent.name, queue=job.pool, connection=connection)


@contextmanager
def running(directory: Path, **more: str) -> Iterator[Scheduler]:
    """Engines on hosts, "database" and "broker". Workers and web are yours to start.

    more: settings of whoever runs on a host.
    """
    with Net() as net:
        migrated.put(directory)
        urls = parts.start_postgresql(net.host("database"), directory)
        with on_database(net, *urls, directory, **more) as scheduler:
            yield scheduler


@contextmanager
def on_database(net: Net, url: str, by_socket: str, directory: Path, **more: str) -> Iterator[Scheduler]:
    """As `running`, on a PostgreSQL that is there, with no table in it. Django of this process is on it.

    url: for the hosts. by_socket: for this process. more: settings of whoever runs on a host.
    """
    # The last one would have tests.settings choose other databases of the broker: this one is nobody else's.
    ours = {engines.DATABASE, engines.BROKER, engines.CACHE, engines.NAMES, "PYTEST_XDIST_WORKER"}
    environ = {name: value for name, value in os.environ.items() if name not in ours}
    evidence = directory / "evidence"
    evidence.touch()
    broker, client = net.host("broker"), net.host("client")
    broker_url, cache = parts.start_valkey(broker, directory)
    environ |= {engines.DATABASE: url, engines.BROKER: broker_url, engines.CACHE: cache, **QUICK, **more}
    environ["CHAOS_EVIDENCE"] = str(evidence)
    scheduler = Scheduler(net, broker, client, environ, directory, evidence)
    with pytest.MonkeyPatch.context() as patch, own_engines.on(by_socket, patch):
        call_command("migrate", verbosity=0)
        yield scheduler
