"""One child process: start it, restart it, stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

TETHER = Path(__file__).with_name("tether.py")
LONGEST_PAUSE = 30.0  # seconds before a child that keeps dying is started again
HEALTHY_AFTER = 60.0  # seconds of life after which a death counts as the first one again


class Process:
    """One child and, after restarts, its successors. `Processes.start` creates it."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None,
        log: Path | None,
        restart: bool,
        stop_signal: signal.Signals,
        death_signal: signal.Signals,
        account: tuple[int, int] | None,
    ) -> None:
        self.name = name
        self.log = log
        self.restart = restart
        self.restarts = 0
        self._early_deaths = 0
        self._argv = list(argv)
        self._env = dict(os.environ if env is None else env)
        self._stop_signal = stop_signal
        self._death_signal = death_signal
        self._account = account or (-1, -1)
        self._lock = threading.Lock()  # a stop must not meet a restart half-way
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.unlink(missing_ok=True)  # keep only the log of the last run: nothing rotates it
        self._spawn()

    def _spawn(self) -> None:
        tether = [sys.executable, "-IS", str(TETHER), str(int(self._death_signal)), str(os.getpid())]
        tether += [str(number) for number in self._account]
        self._started = time.monotonic()
        if self.log is None:
            self._popen = self._popen_with(tether, None, None)
            return
        # Write to a file: a child that inherits our output keeps it open after us, and `make demo | tail` hangs.
        with self.log.open("ab") as output:
            self._popen = self._popen_with(tether, subprocess.DEVNULL, output)

    def _popen_with(self, tether: list[str], stdin: int | None, output: IO[bytes] | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*tether, *self._argv],
            env=self._env,
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,  # Ctrl-C reaches only us, and we stop the children in order
        )

    @property
    def pid(self) -> int:
        """The pid of the present incarnation; its process group has the same number."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative if a signal ended it."""
        return self._popen.poll()

    @property
    def alive(self) -> bool:
        return self.returncode is None

    def wait(self, timeout: float | None = None) -> int:
        """Its return code. Raises `subprocess.TimeoutExpired` after `timeout` seconds."""
        return self._popen.wait(timeout)

    def signal_group(self, number: int) -> None:
        """Signal the child and the processes in its group, if any are left."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def stop(self, limit: float = 15.0) -> None:
        """Ask it to stop; after `limit` seconds kill it and the rest of its group."""
        with self._lock:
            self.restart = False
        if self.alive:
            self._popen.send_signal(self._stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(limit)
        self.signal_group(signal.SIGKILL)
        self._popen.wait()

    def restart_if_due(self) -> None:
        """Start a dead child again, after a pause that doubles with every early death."""
        with self._lock:
            if not self.restart or self.alive:
                return
            lived = time.monotonic() - self._started
            early_deaths = 0 if lived > HEALTHY_AFTER else self._early_deaths
            if lived < min(LONGEST_PAUSE, 0.5 * 2**early_deaths):
                return
            self._early_deaths = early_deaths + 1
            self.restarts += 1
            self.signal_group(signal.SIGKILL)  # the rest of the dead one's group
            self._spawn()
