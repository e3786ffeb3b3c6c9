"""Child processes: watched, restarted, stopped in order, and gone when we are."""

import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from embedded.processes import Processes


def ended(pid: int, limit: float = 10) -> bool:
    """Wait for the end of any process, not only of a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], limit)[0])
    finally:
        os.close(descriptor)


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that children can be told to write to, so that nobody has to poll: (path, reader)."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR)  # both ends, so that neither side waits in open()
    with os.fdopen(descriptor, "r+b", buffering=0) as reader:
        yield path, reader


def line(reader, limit: float = 10) -> str:
    assert select.select([reader], [], [], limit)[0], "nothing was written in time"
    return reader.readline().decode().strip()


def test_stops_the_youngest_first(pipe):
    path, reader = pipe
    with Processes() as processes:
        for name in ("one", "two"):
            script = f"trap 'echo {name} > {path}; exit' TERM; echo up > {path}; while :; do sleep 1; done"
            processes.start(name, ["sh", "-c", script])
            assert line(reader) == "up"
    assert [line(reader), line(reader)] == ["two", "one"]


def test_a_child_that_ignores_the_request_is_killed_with_its_group(pipe):
    path, reader = pipe
    script = f"trap '' TERM; sleep 1000 & echo $! > {path}; wait; while :; do sleep 1000; done"
    with Processes() as processes:
        child = processes.start("stubborn", ["sh", "-c", script])
        grandchild = int(line(reader))
        child.stop(limit=0.2)
        assert child.returncode == -signal.SIGKILL
        assert ended(grandchild)


def test_a_dead_child_is_started_again_until_it_is_stopped(pipe):
    path, reader = pipe
    script = f"echo $$ > {path}; exec sleep 1000"
    with Processes() as processes:
        child = processes.start("phoenix", ["sh", "-c", script], restart=True)
        first = int(line(reader))
        os.kill(first, signal.SIGKILL)
        second = int(line(reader))
        assert second != first
        assert child.pid == second
        assert child.restarts == 1
        child.stop()
        assert ended(second)
        assert not select.select([reader], [], [], 1.5)[0], "it was started again after the stop"


def test_output_goes_to_the_log_and_the_status_is_the_shells(tmp_path):
    log = tmp_path / "deep" / "log"
    with Processes() as processes:
        assert processes.start("talker", ["sh", "-c", "echo out; echo err >&2"], log=log).wait(10) == 0
        missing = processes.start("missing", ["/no/such/program"], log=tmp_path / "missing")
        assert missing.wait(10) == 127
    assert log.read_text() == "out\nerr\n"
    assert "/no/such/program: No such file" in (tmp_path / "missing").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_children_do_not_ignore_a_broken_pipe(tmp_path):
    """Python ignores SIGPIPE, and what is ignored stays ignored through exec."""
    log = tmp_path / "log"
    with Processes() as processes:
        assert processes.start("status", ["grep", "SigIgn", "/proc/self/status"], log=log).wait(10) == 0
    ignored = int(log.read_text().split()[1], 16)
    assert not ignored & 1 << (signal.SIGPIPE - 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_children_end_when_we_are_killed_also_those_that_ignore_sigterm(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    parent = """
import os, signal
from embedded.processes import Processes
child = Processes().start("child", ["sh", "-c", "trap '' TERM; echo deaf > $PIPE; exec sleep 1000"])
open(os.environ["PIPE"]).readline()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env={**os.environ, "PIPE": str(pipe)},
        stdout=subprocess.PIPE,
        check=False,
        timeout=30,
    )
    assert done.returncode == -signal.SIGKILL
    assert ended(int(done.stdout))


def test_a_stop_from_another_thread_meets_no_restart_half_way():
    for _ in range(20):
        processes = Processes()
        children = [processes.start(str(n), ["true"], restart=True) for n in range(3)]
        stopper = threading.Thread(target=processes.stop)
        stopper.start()
        stopper.join(30)
        assert not stopper.is_alive()
        assert not any(child.alive for child in children)
