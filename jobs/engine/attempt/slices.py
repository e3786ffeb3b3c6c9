"""A time slice: how long a process goes on with jobs of one lane, in one slot, before other lanes have their turn.

A slice counts the time for which its process works or waits, but not its wait for a core of the machine. Where many
processes share few cores, a job takes many times as long without doing more. If that counted, each job would need a
dispatch, which takes more of the cores than the job.
"""

import time
from collections.abc import Callable

from jobs.allocation.order import SLICE

MAX_SLICE = 1.0  # seconds, whatever the process waited for


class Slice:
    """A time slice, which begins when this object is made.

    waited: returns the seconds for which this thread has waited for a core in its life.
    """

    def __init__(self, waited: Callable[[], float]) -> None:
        self._waited = waited
        self._began, self._waited_before = time.monotonic(), waited()
        self._passed = 0.0  # seconds until the last job had ended

    def has_room(self) -> bool:
        """Return whether another job may begin, now that one has ended.

        The next job probably takes as long as that one; at least half of it must lie within the slice.
        """
        passed = time.monotonic() - self._began
        with_half = passed + (passed - self._passed) / 2
        self._passed = passed
        if with_half < SLICE or with_half >= MAX_SLICE:
            return with_half < MAX_SLICE
        counted = passed - (self._waited() - self._waited_before)
        return with_half * counted < SLICE * passed
