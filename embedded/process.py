"""Start one child process, wait until it serves, start it again, stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from embedded import EmbeddedError

TETHER = Path(__file__).with_name("tether.py")
PAUSE = 0.5  # seconds from one start of a child to the next
POLL = 0.02


def tethered(
    argv: Sequence[str], death_signal: signal.Signals = signal.SIGKILL, *, alone: bool = False, not_root: bool = False
) -> list[str]:
    """Return the command line of a child that gets `death_signal` when we die.

    alone, not_root: ALONE and NOT_ROOT of tether.py.
    """
    numbers = (death_signal, os.getpid(), alone, not_root)
    return [sys.executable, "-IS", str(TETHER), *(str(int(number)) for number in numbers), *argv]


@dataclass(eq=False, repr=False)
class Process:
    """One child and, after restarts, its successors. `Processes.start` creates it, and explains the fields."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None
    log: Path | None
    restart: bool
    home: Path | None
    stop_signal: signal.Signals
    death_signal: signal.Signals
    not_root: bool
    restarts: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)  # a stop must not meet a restart half-way

    def __post_init__(self) -> None:
        if self.log is not None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.unlink(missing_ok=True)  # keep only the log of the last run: nothing rotates it
        self._spawn()

    def _spawn(self) -> None:
        self._started = time.monotonic()
        if self.log is None:
            self._popen = self._popen_with(None, None)
            return
        # Write to a file: a child that inherits our output keeps it open after us, and `make demo | tail` hangs.
        with self.log.open("ab") as output:
            self._popen = self._popen_with(subprocess.DEVNULL, output)

    def _popen_with(self, stdin: int | None, output: IO[bytes] | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            tethered(self.argv, self.death_signal, alone=self.home is not None, not_root=self.not_root),
            env=self.env,
            cwd=self.home,
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,  # Ctrl-C reaches only us, and we stop the children in order
        )

    @property
    def pid(self) -> int:
        """The pid of the present process; its process group has the same number."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The return code; None while the process runs; negative if a signal ended it."""
        return self._popen.poll()

    @property
    def alive(self) -> bool:
        return self.returncode is None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the return code. Raises `subprocess.TimeoutExpired` after `timeout` seconds."""
        return self._popen.wait(timeout)

    def wait_until(self, answers: Callable[[], bool], limit: float = 30.0) -> None:
        """Return when `answers()` is true.

        Raises `EmbeddedError`, with the end of the log, if the process ends first, or after `limit` seconds.
        """
        deadline = time.monotonic() + limit
        while not answers():
            if self.restarts or not self.alive:
                raise EmbeddedError(f"{self.name} ended while starting.{self._end_of_log()}")
            if time.monotonic() > deadline:
                raise EmbeddedError(f"{self.name} does not answer after {limit:.0f} s.{self._end_of_log()}")
            time.sleep(POLL)

    def _end_of_log(self, lines: int = 15) -> str:
        if self.log is None:
            return ""
        text = self.log.read_text(errors="replace").splitlines()[-lines:]
        return "\n".join([f" The end of {self.log}:", *(f"  {line}" for line in text)])

    def signal_group(self, number: int) -> None:
        """Signal the child and the processes in its group, if any are left."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def stop(self, limit: float = 15.0) -> None:
        """Ask the child to stop; after `limit` seconds kill it. Kill the rest of its group."""
        with self._lock:
            self.restart = False
        if self.alive:
            self._popen.send_signal(self.stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(limit)
        self.signal_group(signal.SIGKILL)
        self._popen.wait()

    def restart_if_due(self) -> None:
        """Start a dead child again."""
        with self._lock:
            if self.restart and not self.alive and time.monotonic() > self._started + PAUSE:
                self.restarts += 1
                self.signal_group(signal.SIGKILL)  # the rest of the dead one's group
                self._spawn()
