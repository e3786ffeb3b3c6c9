"""The ends in hand of a feeder: successes that are still to be settled.

Where few jobs run, each end would make a trip of its own, and pay as much as in an ordinary pool. So ends gather for a
window, which is short beside the time that such jobs take.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic

from jobs.allocation.order import SLICE
from jobs.store import Success
from jobs.worker.light.processes import Held, Key, LightProcess

LONGEST_WINDOW = 0.05  # seconds
PART_OF_A_JOB = 0.01  # of the seconds of the latest jobs
WEIGHT_OF_LATEST = 0.05  # of a job, in the mean of the latest


@dataclass(frozen=True, eq=False)
class End:
    """A success that is to be settled."""

    process: LightProcess
    held: Held
    success: Success

    @property
    def key(self) -> Key:
        return self.held.job.id, self.held.job.attempt

    def last_of_slice(self) -> "End":
        return replace(self, success=replace(self.success, goes_on=False))


class Ends:
    """The ends in hand, in their order. Only the feeder's thread uses them."""

    def __init__(self) -> None:
        self._ends: deque[End] = deque()
        self._since = 0.0
        self._mean = 0.0  # seconds of a job, of the latest

    def __len__(self) -> int:
        return len(self._ends)

    def note(
        self, process: LightProcess, held: Held, stats: dict[str, object], ttl: float | None, size: int | None
    ) -> None:
        """Take an end in hand."""
        now = monotonic()
        self._mean += WEIGHT_OF_LATEST * (now - held.since - self._mean)
        if not self._ends:
            self._since = now
        # As engine/attempt/slices.py: the next job probably takes as long, and half of it must lie within the slice.
        goes_on = process.leaves is None and now - held.slice_since + (now - held.since) / 2 < SLICE
        self._ends.append(End(process, held, Success(held.job, stats, ttl, size, goes_on)))

    def gather_until(self) -> float:
        """Return when the window of the ends closes, by time.monotonic()."""
        return self._since + min(LONGEST_WINDOW, PART_OF_A_JOB * self._mean)

    def take(self, most: int) -> list[End]:
        """Take the first ends out of the hand, for a trip."""
        taken = [self._ends.popleft() for _ in range(min(len(self._ends), most))]
        self._since = monotonic()  # those that are left came while others gathered
        return taken

    def put_back(self, ends: Sequence[End]) -> None:
        """Take these in hand again, before the others: their trip has no answer."""
        self._ends.extendleft(reversed(ends))

    def of(self, process: LightProcess) -> bool:
        """Return whether an end of this process is in hand."""
        return any(end.process is process for end in self._ends)
