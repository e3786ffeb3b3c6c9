"""Starts Python programs without their imports, which cost each a second of a processor: `tests/warm_parent.py`.

A worker or a web process that is started so is like any other, but that it is forked and not executed. What asks for
more than Python's command line can say here (another Python, options, PYTHONPATH) starts cold.
"""

import atexit
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

from embedded.process import Process
from embedded.processes import Processes

PARENT = Path(__file__).with_name("warm_parent.py")
used = 0.0  # seconds of processors, by those that were forked and have ended, and their children


class WarmParent:
    """The process that forks; one question at a time."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        words = [sys.executable, str(PARENT), str(theirs.fileno()), str(os.getpid())]
        self._popen = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()

    def ask(self, **question: Any) -> Any:
        with self._lock:
            self._line.send(json.dumps(question).encode())
            return json.loads(self._line.recv(1 << 10))

    def close(self) -> None:
        self._line.close()
        self._popen.wait()


@cache
def warm_parent() -> WarmParent:
    """That of this process, from the first program on."""
    parent = WarmParent()
    atexit.register(parent.close)
    return parent


class Forked:
    """As much of `subprocess.Popen` as `Process` uses; it is the warm parent's child."""

    def __init__(self, parent: WarmParent, **question: Any) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self.pid: int = parent.ask(**question)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with self._lock:  # two who ask at once would ask for one who is gone
            if self.returncode is None and (ended := self._parent.ask(poll=self.pid)):
                global used  # noqa: PLW0603
                self.returncode, seconds = ended
                used += seconds
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        give_up = time.monotonic() + (math.inf if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class WarmProcess(Process):
    """A child that is forked from the warm parent where it can be."""

    network = ""  # the file of the network namespace in which it is; else ours

    def _popen_with(self, stdin: int | None, output: IO[bytes] | None) -> Any:
        program, *words = self.argv
        env = dict(os.environ if self.env is None else self.env)
        known = program == sys.executable and words[0] in ("-m", "manage.py")
        if not known or output is None or of_python(env) != of_python(os.environ):
            return super()._popen_with(stdin, output)
        question = {"argv": words, "env": env, "cwd": str(Path.cwd()), "log": str(self.log), "network": self.network}
        return Forked(warm_parent(), death_signal=self.death_signal, **question)


class WarmProcesses(Processes):
    """Children that are forked where they can be. A test of what a start does says `processes.child = Process`."""

    child: type[Process] = WarmProcess


def of_python(environ: Mapping[str, str]) -> dict[str, str]:
    """What is read before a program begins."""
    return {name: value for name, value in environ.items() if name.startswith(("PYTHON", "LD_", "LC_", "TZ"))}
