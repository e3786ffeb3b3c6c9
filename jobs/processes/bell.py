"""The bell of a worker: a process rings it when a body has submitted a job, and the parent's dispatcher hears it.

So a body never waits for the door or the broker, and of many that submit at once, one dispatch serves all.
"""

import os
import select
from contextlib import suppress


class Bell:
    """Made in the parent, before its pool forks: a pipe that nobody waits to write to."""

    def __init__(self) -> None:
        self._ear, self._rope = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._rope, False)

    def ring(self) -> None:
        """Ask for a dispatch. Raises nothing: a full pipe is ringing, and what nobody hears the clock makes good."""
        with suppress(OSError):
            os.write(self._rope, b"!")

    def wait(self) -> None:
        """Until somebody has rung; from then on it is silent again. For one thread of the parent."""
        ear = select.poll()
        ear.register(self._ear, select.POLLIN)
        ear.poll()
        with suppress(BlockingIOError):
            os.read(self._ear, 65536)


bell = Bell()  # imported by the parent before it forks, so the same pipe for all processes of a worker
