"""What a command leaves behind when it ends, or is killed, before its own children (Linux only).

As a subreaper we inherit every descendant whose parent dies, also one in a session of its own; so nothing
that was started beneath us can get away.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from embedded.process import Process
from embedded.processes import Processes

PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"


def inherit() -> None:
    """From now on orphaned descendants become our children, instead of init's."""
    if LINUX:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def wait(command: Process, engines: Processes) -> int:
    """The return code of `command`. Meanwhile bury the orphans that end: they would stay zombies."""
    while True:
        # Never without a limit: a signal that comes just before the system call would not be forwarded
        # until that returns, since Python runs its handlers between bytecodes only.
        with suppress(subprocess.TimeoutExpired):
            return command.wait(0.2)
        while LINUX:
            # Look, but leave the zombie: whoever keeps a Popen for it wants the status.
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is None or ended.si_pid == command.pid:
                break
            if not any(engine.pid == ended.si_pid and not engine.alive for engine in engines):
                _bury(ended.si_pid)  # an orphan; an engine's own Popen has just buried it


def sweep(spared: Processes, grace: float = 3.0) -> None:
    """End all our descendants except `spared` and theirs: ask, and after `grace` seconds kill."""
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


def _descendants(spared: Collection[int]) -> list[int]:
    """Living descendants; our dead children are buried on the way."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat") if LINUX else ():
        with suppress(OSError):
            # pid (name, which may hold anything) state parent ...
            state, parent = entry.read_text(errors="replace").rpartition(")")[2].split()[:2]
            pid = int(entry.parent.name)
            if state == "Z" and int(parent) == os.getpid() and pid not in spared:
                _bury(pid)
            elif state != "Z":
                children.setdefault(int(parent), []).append(pid)
    found: list[int] = []
    parents = [os.getpid()]
    while parents:
        generation = [pid for pid in children.get(parents.pop(), []) if pid not in spared]
        found += generation
        parents += generation
    return found


def _bury(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
