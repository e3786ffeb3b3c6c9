"""Processes like those of a pool, which hold attempts in a running table."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from jobs import job
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.light import rest
from jobs.worker.children import kills
from jobs.worker.children.limits import MIB
from jobs.worker.children.running_table import RunningTable
from tests.factories import TenantFactory, ThingFactory
from tests.integration.processes.light_seats import SeatsHere
from tests.sample.models import Thing

HOUR = 3600.0  # seconds


@pytest.fixture
def start() -> Iterator[Callable[..., int]]:
    """Start a process, as the pool does, that holds so many MiB, and its own subprocess others; wait until they do."""
    started: list[subprocess.Popen] = []

    def start(mib: int = 1, below: int = 0) -> int:
        code = f"held = b'x' * ({mib} * {MIB})\n"
        if below:
            below_code = f"held = b'x' * ({below} * {MIB}); print('there', flush=True); import time; time.sleep(600)"
            code += "import subprocess, sys\n"
            code += f"below = subprocess.Popen([sys.executable, '-c', {below_code!r}], stdout=subprocess.PIPE)\n"
            code += "below.stdout.readline()\n"
        code += "print('there', flush=True); import time; time.sleep(600)"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, process_group=0)
        started.append(process)
        assert process.stdout.readline() == b"there\n"
        return process.pid

    yield start
    for process in started:
        kills.end(process.pid)
        process.communicate()


@pytest.fixture
def submit(sent, monkeypatch) -> Callable[..., int]:
    """Submit this body as a job of a tenant of its own: `submit(body, *args, **options)`."""

    def submit(body, /, *args, **options) -> int:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        return ThingFactory(tenant=TenantFactory()).async_.echo(*args)

    return submit


@pytest.fixture
def runs(here, submit) -> Callable[..., Outcome]:
    """Run this body in a seat: its outcome."""

    def runs(body, /, *args, **options) -> Outcome:
        job_id = submit(body, *args, **options)
        here.begin(job_id)
        return here.outcome(job_id)

    return runs


@pytest.fixture(autouse=True)
def nothing_told() -> Iterator[None]:
    yield
    while not kills.deaths.empty():
        kills.deaths.get_nowait()


@pytest.fixture
def table() -> RunningTable:
    return RunningTable(8)


@pytest.fixture
def lay(table):
    """Let a process run this attempt: `lay(index, pid, job_id=1, seconds=HOUR, memory=0)`; None: hold it only."""

    def lay(index: int, pid: int, job_id: int = 1, seconds: float | None = HOUR, memory: int = 0) -> None:
        entry = table.take_entry(index, pid)
        entry.hold(job_id, 1)
        if seconds is not None:
            entry.limit(seconds, memory)

    return lay


@pytest.fixture
def here(register):
    here = SeatsHere(register())
    yield here
    here.close()


@pytest.fixture
def begin(here, sent, monkeypatch):
    """Begin these bodies, each as a job of a tenant of its own: their numbers."""

    of_things = {}

    async def echo(self):
        return await of_things[self.pk](self)

    def begin(*bodies, **options) -> list[int]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(echo))
        ids = []
        for body in bodies:
            thing = ThingFactory(tenant=TenantFactory())
            of_things[thing.pk] = body
            ids.append(thing.async_.echo())
        here.begin(*ids)
        return ids

    return begin


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(rest, "CANCEL_PATIENCE", 0.2)
