"""The ends in hand of a feeder: successes that are still to be settled.

Where few jobs run, each end would make a trip of its own, and pay as much as in an ordinary pool. So ends gather for a
window, which is short beside the time that such jobs take.

After a success, the next job of its lane may follow in its slot and seat, which costs a third less than a claim. An
ordinary process gives its seat to others after a time slice. Here there are many seats: each trip gives at least one of
those that have ended to the next job in line, those of the oldest slices first, and within MAX_SLICE it gives all.
So a job of another lane waits for the next end, and not for the end of a slice.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic

from jobs.engine.attempt.slices import MAX_SLICE
from jobs.store import Success
from jobs.worker.light.processes import HeldAttempt, Key, RemoteProcess

LONGEST_WINDOW = 0.05  # seconds
PART_OF_A_JOB = 0.01  # of the seconds of the latest jobs
WEIGHT_OF_LATEST = 0.05  # of a job, in the mean of the latest


@dataclass(frozen=True, eq=False)
class EndInHand:
    """A success that is to be settled.

    missed: whether a trip has left it out already: its row was locked.
    """

    process: RemoteProcess
    held: HeldAttempt
    success: Success
    missed: bool = False

    @property
    def key(self) -> Key:
        return self.held.job.id, self.held.job.attempt

    def going_on(self) -> "EndInHand":
        """Return this end, after which the next job of its lane may follow."""
        return replace(self, success=replace(self.success, goes_on=True))

    def may_go_on(self, now: float) -> bool:
        """Return whether the next job, if it takes as long, lies at least by half within the slice."""
        return self.process.is_open and now - self.held.slice_since + (now - self.held.since) / 2 < MAX_SLICE


class Ends:
    """The ends in hand, in their order. Only the feeder's thread uses them."""

    def __init__(self) -> None:
        self._ends: deque[EndInHand] = deque()
        self._since = self._taken_at = 0.0
        self._mean = 0.0  # seconds of a job, of the latest

    def __len__(self) -> int:
        return len(self._ends)

    def note(self, process: RemoteProcess, held: HeldAttempt, success: Success) -> None:
        """Take an end in hand."""
        now = monotonic()
        self._mean += WEIGHT_OF_LATEST * (now - held.since - self._mean)
        if not self._ends:
            self._since = now
        self._ends.append(EndInHand(process, held, success))

    def gather_until(self) -> float:
        """Return when the window of the ends closes, by time.monotonic()."""
        return self._since + min(LONGEST_WINDOW, PART_OF_A_JOB * self._mean)

    def take(self, most: int, *, go_on: bool) -> list[EndInHand]:
        """Take the first ends out of the hand, for a trip.

        go_on: whether jobs may follow: not if the worker drains.
        """
        taken = [self._ends.popleft() for _ in range(min(len(self._ends), most))]
        now = monotonic()
        passed, self._taken_at = now - self._taken_at, now
        self._since = now  # of those that are left
        if not go_on:
            return taken
        given = max(1, math.ceil(len(taken) * min(passed / MAX_SLICE, 1.0)))
        taken.sort(key=lambda end: end.held.slice_since)
        return taken[:given] + [end.going_on() if end.may_go_on(now) else end for end in taken[given:]]

    def put_back(self, ends: Sequence[EndInHand]) -> None:
        """Take these in hand again, before the others: their trip has no answer."""
        self._ends.extendleft(replace(end, success=replace(end.success, goes_on=False)) for end in reversed(ends))

    def of(self, process: RemoteProcess) -> bool:
        """Return whether an end of this process is in hand."""
        return any(end.process is process for end in self._ends)
