"""End the processes that outlive their parent when a command ends or is killed.

A subreaper inherits every descendant whose parent dies, even one in a session of its own. So no process that was
started beneath us can escape.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from embedded.process import Process
from embedded.processes import Processes

PR_SET_CHILD_SUBREAPER = 36


def inherit() -> None:
    """Make this process a subreaper: from now on orphaned descendants become its children, instead of init's."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def wait(command: Process, engines: Processes) -> int:
    """Wait for `command`; return its return code. Meanwhile reap orphans that end, which would stay zombies."""
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
                _bury(ended.si_pid)  # an orphan; an engine's own Popen has just reaped it


def sweep(spared: Processes, grace: float = 3.0) -> None:
    """End all our descendants except `spared` and their descendants: ask them, and kill them after `grace` seconds."""
    deadline = time.monotonic() + grace
    terminated: set[int] = set()
    while orphans := _descendants({process.pid for process in spared}):
        late = time.monotonic() > deadline
        for pid in orphans:
            if late or pid not in terminated:
                terminated.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.02)


def _descendants(spared: Collection[int]) -> list[int]:
    """Return the living descendants, without `spared` and their descendants. Reaps our dead children, too."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # pid (name, which may hold anything) state parent ...
            state, parent = entry.read_text(errors="replace").rpartition(")")[2].split()[:2]
            pid = int(entry.parent.name)
            if state == "Z" and int(parent) == os.getpid() and pid not in spared:
                _bury(pid)
            elif state != "Z":
                children.setdefault(int(parent), []).append(pid)
    descendants: list[int] = []
    parents = [os.getpid()]
    while parents:
        generation = [pid for pid in children.get(parents.pop(), []) if pid not in spared]
        descendants += generation
        parents += generation
    return descendants


def _bury(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
