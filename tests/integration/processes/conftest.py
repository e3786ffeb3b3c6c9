"""Processes like those of a pool, which hold attempts in a running table."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from jobs.worker.children import kills
from jobs.worker.children.limits import MIB
from jobs.worker.children.running_table import RunningTable

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
