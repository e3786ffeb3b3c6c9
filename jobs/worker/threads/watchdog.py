"""The watchdog: if a thread of the parent dies or hangs, end the whole worker; half a worker would do harm.

The supervisor starts a new worker, and the clock of another worker takes the jobs back.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection

from jobs import telemetry

LOOK_INTERVAL = 0.5  # seconds between two looks


class Progress:
    """The signs of life of a thread."""

    def __init__(self) -> None:
        self.rounds = 0
        self.asks = False  # waiting for the database, or for a resolver of its name, is not a standstill

    def note(self) -> None:
        """Note that another round has begun."""
        self.rounds += 1

    def asking(self, ask: Callable[..., Any], *question: Any) -> Any:
        """Connect to the database, or run a statement there (see Django's `execute_wrapper`)."""
        self.asks = True
        try:
            return ask(*question)
        finally:
            self.asks = False


Run = Callable[[Progress], None]


@dataclass
class _Watched:
    """A thread that the watchdog watches.

    standstill: the longest standstill in seconds; None: no limit, as for a thread that calls user code or the broker
    """

    thread: threading.Thread
    progress: Progress
    standstill: float | None
    rounds: int = -1  # at the last look
    still: int = 0  # looks without progress

    def fault(self) -> str | None:
        if not self.thread.is_alive():
            return "died"
        if self.standstill is None:
            return None
        moves = self.progress.asks or self.progress.rounds != self.rounds
        self.rounds, self.still = self.progress.rounds, 0 if moves else self.still + 1
        # Count looks, not seconds: a stopped process stops the watchdog as well.
        return "stands still" if self.still * LOOK_INTERVAL > self.standstill else None


class Watchdog:
    """The watchdog: it starts the threads, and calls `abort` with the reason if one fails before `stop` is set."""

    def __init__(self, stop: threading.Event, abort: Callable[[str], object]) -> None:
        self._stop = stop
        self._abort = abort
        self._watched: list[_Watched] = []

    def start(self, name: str, run: Run, standstill: float | None = None) -> None:
        """Start a thread for this duty, with a database connection of its own."""
        progress = Progress()
        thread = threading.Thread(target=self._run, args=(run, progress), name=name, daemon=True)
        thread.start()
        self._watched.append(_Watched(thread, progress, standstill))

    @staticmethod
    def _run(run: Run, progress: Progress) -> None:
        connect = connection.get_new_connection
        connection.get_new_connection = partial(progress.asking, connect)  # type: ignore[method-assign]
        try:
            with connection.execute_wrapper(progress.asking):
                run(progress)
        finally:
            connection.close()

    def run(self) -> None:
        """Watch until stopped."""
        while not self._stop.wait(LOOK_INTERVAL):
            for watched in self._watched:
                fault = watched.fault()
                if fault and not self._stop.is_set():
                    self._abort(f"thread {watched.thread.name} {fault}")
                    return

    def join(self, seconds: float) -> None:
        """Wait for the threads to end, at most that many seconds for each."""
        for watched in self._watched:
            watched.thread.join(seconds)
            if watched.thread.is_alive():
                telemetry.noticed("thread did not stop", thread=watched.thread.name)
