"""Programs that are forked from the tests' warm parent (`tests.warm`)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from embedded.process import Process
from embedded.processes import Processes
from tests.warm import WarmProcesses

SEE = """
import os, signal, sys
print(sys.argv, sys.path, os.getcwd(), dict(os.environ), sys.stdin.read(), os.getsid(0) == os.getpid())
print(*map(signal.getsignal, (signal.SIGINT, signal.SIGPIPE)), sorted(os.listdir("/proc/self/fd")), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""
WAIT = [sys.executable, "-m", "timeit", "-n", "1", "-r", "1", "import time; time.sleep(1000)"]


@pytest.fixture
def started(tmp_path: Path):
    """Of both kinds: what is executed, and what is forked."""
    with Processes() as cold, WarmProcesses() as warm:
        yield lambda argv, env=None: [
            many.start(name, argv, env, log=tmp_path / name) for name, many in (("cold", cold), ("warm", warm))
        ]


def test_see_what_one_that_is_executed_sees_and_end_as_it_does(started) -> None:
    program = [sys.executable, "-m", "timeit", "-n", "1", "-r", "1", SEE]
    cold, warm = started(program, os.environ | {"SEEN": "by both"})
    assert warm.wait(60) == cold.wait(60) == -signal.SIGTERM
    assert warm.log.read_text() == cold.log.read_text() != ""


def test_live_until_they_are_stopped(started) -> None:
    for one in started(WAIT):
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(0.05)
        assert one.alive
        one.stop()
        assert one.returncode == -signal.SIGTERM


def test_start_cold_where_a_test_asks_for_it_or_python_reads_something_else(tmp_path: Path) -> None:
    with WarmProcesses() as processes:
        forked = processes.start("forked", WAIT, log=tmp_path / "1")
        other = processes.start("other", WAIT, os.environ | {"PYTHONPATH": "/nowhere"}, log=tmp_path / "2")
        processes.child = Process
        cold = processes.start("cold", WAIT, log=tmp_path / "3")
        parents = [Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split()[1] for one in (other, cold)]
        assert parents == [str(os.getpid())] * 2
        assert str(os.getpid()) not in Path(f"/proc/{forked.pid}/stat").read_text().split()
