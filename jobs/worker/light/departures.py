"""The departures of a light worker's processes: those that have to end, and those that have ended."""

import math
from collections.abc import Callable, Sequence
from time import monotonic

from jobs.worker.light.processes import Key, Processes, RemoteProcess

LAST_PATIENCE = 30.0  # seconds that the other seats of a process get, which has to end because of one of them
REPORT_AGAIN = 30.0  # seconds until the end of a process is reported again, if rows still name it


class Departures:
    """Only the feeder's thread uses them.

    end: ends a process, whose seats are empty or hold only attempts that do not end.
    died: reports that a process has ended: its pid, and the attempts that its seats held.
    """

    def __init__(
        self,
        processes: Processes,
        end: Callable[[RemoteProcess], object],
        died: Callable[[int, Sequence[Key]], object],
    ) -> None:
        self._processes, self._end, self._died = processes, end, died
        self._ended: list[RemoteProcess] = []
        self._reported: dict[int, float] = {}  # when, by pid

    def __len__(self) -> int:
        """Return how many have ended and are not reported."""
        return len(self._ended)

    def pids(self) -> list[int]:
        return [process.pid for process in self._ended]

    def note(self, process: RemoteProcess) -> None:
        """Note that a process has ended. It is reported when its last ends are settled."""
        self._ended.append(process)

    def end_at_once(self, process: RemoteProcess) -> None:
        """End a process whose other seats stand still, too, because of one of them."""
        if process.leaves is None:
            process.leave()
            self._end(process)

    def look(self, settles: Callable[[RemoteProcess], bool]) -> None:
        """End what has to end, and report what has ended.

        settles: returns whether an end of a process is in hand.
        """
        now = monotonic()
        for process in [*self._processes.by_pid.values()]:
            if process.leaves is None:
                continue
            if now - process.leaves > LAST_PATIENCE or not process.held.keys() - process.stuck.keys():
                self._end(process)
        for process in [process for process in self._ended if not settles(process)]:
            self._ended.remove(process)
            self.report(process.pid, [*process.held])

    def report(self, pid: int, aboard: Sequence[Key]) -> None:
        """Report that a process has ended, and again if its rows are still there much later.

        aboard: the attempts that its seats held.
        """
        now = monotonic()
        if now - self._reported.get(pid, -math.inf) > REPORT_AGAIN:
            self._reported[pid] = now
            self._died(pid, aboard)
