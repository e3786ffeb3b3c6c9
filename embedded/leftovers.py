"""End the processes that somebody left behind: a killed launcher its engines, a command its descendants."""

import ctypes
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from embedded import EmbeddedError
from embedded.process import Process
from embedded.processes import Processes

PR_SET_CHILD_SUBREAPER = 36
# How to ask each engine to stop, then to insist.
POSTGRESQL = (signal.SIGINT, signal.SIGQUIT)  # fast, then immediate: never SIGKILL, which leaves shared memory
VALKEY = (signal.SIGTERM, signal.SIGKILL)
SECONDS_TO_STOP = 20.0  # for each of the two signals


def stop_engines(directory: Path) -> None:
    """Stop the engines that still run in a data directory of ours. Raises `EmbeddedError` if one does not stop.

    They are not reused: they may have other settings, and a server that is not our child would neither be restarted
    nor end with us. Most are about to end by themselves, by their death signal.
    """
    _stop(directory / "valkey", VALKEY)
    _stop(directory / "postgresql", POSTGRESQL)
    # Its number may be another process' by now, which PostgreSQL would mistake for its predecessor.
    (directory / "postgresql" / "postmaster.pid").unlink(missing_ok=True)


def inherit() -> None:
    """From now on orphaned descendants become our children, instead of init's, even those in a session of their own."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def wait(command: Process, engines: Processes) -> int:
    """Wait for `command`; return its return code. Meanwhile reap orphans that end: they would stay zombies."""
    while True:
        # Always with a time limit: a signal that comes just before the system call is not forwarded until the call
        # returns, since Python runs its handlers only between bytecodes.
        with suppress(subprocess.TimeoutExpired):
            return command.wait(0.2)
        while True:
            # Look, but leave the zombie: a Popen object may still need its status.
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is None or ended.si_pid == command.pid:
                break
            if not any(engine.pid == ended.si_pid and not engine.alive for engine in engines):
                _reap(ended.si_pid)  # an orphan; an engine's own Popen has just reaped it


def sweep(spared: Processes, grace: float = 3.0) -> None:
    """End all our descendants except `spared` and theirs: ask them, and kill them after `grace` seconds."""
    deadline = time.monotonic() + grace
    asked: set[int] = set()
    while found := _descendants({process.pid for process in spared}):
        late = time.monotonic() > deadline
        for pid in found:
            if late or pid not in asked:
                asked.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.02)


def _stop(home: Path, signals: tuple[signal.Signals, ...]) -> None:
    for number in signals:
        for server in _servers(home):
            with suppress(psutil.NoSuchProcess):
                server.send_signal(number)
        deadline = time.monotonic() + SECONDS_TO_STOP
        while running := _servers(home):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        if not running:
            return
    raise EmbeddedError(f"Process {running[0].pid}, left in {home} by an earlier run, does not stop.")


def _servers(home: Path) -> list[psutil.Process]:
    """The processes that work in `home`, without their children; a zombie works nowhere."""
    place = str(home.resolve())
    found = {process.pid: process for process in psutil.process_iter(["cwd", "ppid"]) if process.info["cwd"] == place}
    return [process for process in found.values() if process.info["ppid"] not in found]


def _descendants(spared: set[int]) -> list[int]:
    """The living descendants; it also reaps our dead children."""
    found: list[int] = []
    parents = [psutil.Process()]
    while parents:
        with suppress(psutil.NoSuchProcess):
            for child in parents.pop().children():
                if child.pid in spared:
                    continue
                if child.status() == psutil.STATUS_ZOMBIE:
                    _reap(child.pid)
                else:
                    found.append(child.pid)
                    parents.append(child)
    return found


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
