"""The watchdog: a thread of the parent that dies or stands still ends its worker, instead of leaving half of one.

The supervisor starts a new worker, and the clock of another one takes the jobs back.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

EVERY = 0.5  # seconds between two looks


class Progress:
    """What a thread shows of itself."""

    def __init__(self) -> None:
        self.rounds = 0
        self.asks = False  # the database, which has its own time limits: to wait for it is not to stand still

    def note(self) -> None:
        """Another round has begun."""
        self.rounds += 1

    def asking(self, execute: Callable[..., Any], *statement: Any) -> Any:
        """Run a statement on the thread's connection (see Django's `execute_wrapper`)."""
        self.asks = True
        try:
            return execute(*statement)
        finally:
            self.asks = False


Run = Callable[[Progress], None]


@dataclass
class _Watched:
    """patience: seconds for which it may stand still; None: it talks to strangers, and may."""

    thread: threading.Thread
    progress: Progress
    patience: float | None
    rounds: int = -1  # when it was last looked at
    still: int = 0  # looks for which it has not moved

    def fault(self) -> str | None:
        if not self.thread.is_alive():
            return "died"
        if self.patience is None:
            return None
        moves = self.progress.asks or self.progress.rounds != self.rounds
        self.rounds, self.still = self.progress.rounds, 0 if moves else self.still + 1
        # Counted in looks, not in seconds: when the whole process was stopped, so were we.
        return "stands still" if self.still * EVERY > self.patience else None


class Watchdog:
    """Starts the threads, and calls `bite` with the reason when one fails before `stop` is set."""

    def __init__(self, stop: threading.Event, bite: Callable[[str], object]) -> None:
        self._stop = stop
        self._bite = bite
        self._watched: list[_Watched] = []

    def start(self, name: str, run: Run, patience: float | None = None) -> None:
        """Run this in a thread of its own, with its connection to the database."""
        progress = Progress()
        thread = threading.Thread(target=self._run, args=(run, progress), name=name, daemon=True)
        thread.start()
        self._watched.append(_Watched(thread, progress, patience))

    @staticmethod
    def _run(run: Run, progress: Progress) -> None:
        try:
            with connection.execute_wrapper(progress.asking):
                run(progress)
        finally:
            connection.close()

    def run(self) -> None:
        """Look until stopped."""
        while not self._stop.wait(EVERY):
            for watched in self._watched:
                fault = watched.fault()
                if fault and not self._stop.is_set():
                    self._bite(f"thread {watched.thread.name} {fault}")
                    return

    def join(self, seconds: float) -> None:
        """Wait for the threads that end, each for so long."""
        for watched in self._watched:
            watched.thread.join(seconds)
