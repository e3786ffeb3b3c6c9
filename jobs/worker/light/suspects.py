"""The suspects in the hand of a feeder: each runs in a process alone, so that its death has one cause.

A job is a suspect if processes of light pools have died with it several times, each time with others beside it, and it
is not known whose body it was (jobs/sql/shared/suspect.sql). The process is one more than the worker was started with:
the seats of all others stay open meanwhile.
"""

from collections.abc import Callable, Sequence

from jobs import store, telemetry
from jobs.worker.light import LightPool
from jobs.worker.light.processes import Key, Processes, RemoteProcess

PART_OF_SEATS = 2  # half of those of a process: who waits takes a slot of its tenant, and a seat of the pool


class Suspects:
    """Only the feeder's thread uses them. Each has its slot, and waits to start."""

    def __init__(self, processes: Processes, pool: LightPool, grow: Callable[[], object]) -> None:
        """Make the hand, which is empty.

        grow: adds a process to those with which the worker was started, which may take some seconds.
        """
        self._processes, self._number, self._grow = processes, pool.processes, grow
        self._most = max(pool.seats // PART_OF_SEATS, 1)
        self._has_grown = False
        self._waiting: dict[Key, None] = {}

    def add(self, suspects: Sequence[Key]) -> list[Key]:
        """Take these attempts in hand, as far as there is room; return the others, which have to be put off."""
        new = [key for key in suspects if key not in self._waiting]
        room = max(self._most - len(self._waiting), 0)
        for key in new[:room]:
            telemetry.noticed("suspect waits for a process alone", job=key[0], attempt=key[1])
            self._waiting[key] = None
        return new[room:]

    def keep_process(self) -> None:
        """Keep an empty process for them, before others fill it: once there is one more than at the start."""
        if not self._waiting or self._kept() is not None:
            return
        if not self._has_grown:
            self._has_grown = True
            self._grow()
        processes = [*self._processes.by_pid.values()]
        empty = next((process for process in processes if not process.held and process.leaves is None), None)
        if empty is not None and len(processes) > self._number:
            empty.is_apart = True

    def next(self) -> tuple[Key, RemoteProcess] | None:
        """Return the first one, if there is a process for it, and this process; None: not now."""
        process = self._kept() if self._waiting else None
        if process is None or process.held or process.is_blocked or process.leaves is not None:
            return None
        return next(iter(self._waiting)), process

    def drop(self, suspects: Sequence[Key]) -> None:
        """Let go of these attempts: a trip has started them, or they may not start."""
        for key in suspects:
            self._waiting.pop(key, None)

    def note_in_hand(self) -> None:
        """Tell PostgreSQL that they are not lost. Raises Django's errors."""
        if self._waiting:
            store.note_in_hand([*self._waiting])

    def _kept(self) -> RemoteProcess | None:
        return next((process for process in self._processes.by_pid.values() if process.is_apart), None)
