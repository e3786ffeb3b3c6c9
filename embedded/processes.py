"""Child processes that are watched, stopped in reverse order, and never outlive us."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from embedded.process import Process

POLL = 0.1  # seconds between two looks at the children


class Processes:
    """A set of children: `with Processes() as processes: processes.start(...)`.

    Each child gets its death signal if we die suddenly (PR_SET_PDEATHSIG). The kernel sends it when the
    *thread* that started the child ends: call `start` from a thread that stays.
    """

    child: type[Process] = Process

    def __init__(self) -> None:
        self._children: list[Process] = []
        self._stopped = threading.Event()
        self._watcher: threading.Thread | None = None

    def start(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        log: Path | None = None,
        restart: bool = False,
        home: Path | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        death_signal: signal.Signals = signal.SIGKILL,
        not_root: bool = False,
    ) -> Process:
        """Start a child in a session of its own.

        env: its whole environment; by default ours.
        log: the file of its output; without it the child shares our input and output.
        restart: start it again whenever it ends, until it is stopped.
        home: its working directory. It waits there until no child of an earlier run with that home is left.
        stop_signal: the signal that asks it to stop.
        death_signal: the signal that it gets when we die. The default cannot be delayed: if all processes die at once,
            a Celery worker that gets SIGTERM waits for a broker that is gone.
        not_root: run it as an unprivileged user if we are root, for a program that refuses root.

        If the command cannot be executed, the child ends with 127 or 126.
        """
        child = self.child(name, argv, env, log, restart, home, stop_signal, death_signal, not_root)
        self._children.append(child)
        if restart and self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, name="processes", daemon=True)
            self._watcher.start()
        return child

    def _watch(self) -> None:
        # This thread is the parent of restarted children, so it lives until they are stopped (see the class).
        while not self._stopped.wait(POLL):
            for child in list(self._children):
                child.restart_if_due()

    def __iter__(self) -> Iterator[Process]:
        return iter(list(self._children))

    def stop(self, limit: float = 15.0) -> None:
        """Stop all children, the youngest first; each has `limit` seconds before it is killed."""
        while self._children:
            self._children[-1].stop(limit)
            self._children.pop()
        self._stopped.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
