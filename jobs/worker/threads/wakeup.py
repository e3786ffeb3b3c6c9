"""The bell of a worker: a process rings it after a body has submitted a job, and the parent's dispatcher hears it.

So a body never waits for the door or the broker, and one dispatch serves many submits.
"""

import os
import select
from contextlib import suppress


class Bell:
    """A non-blocking pipe, created in the parent before its pool forks."""

    def __init__(self) -> None:
        self._ear, self._rope = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._rope, False)

    def ring(self) -> None:
        """Request a dispatch. Never raises: a full pipe rings already, and the clock makes up for a lost ring."""
        with suppress(OSError):
            os.write(self._rope, b"!")

    def wait(self) -> None:
        """Block until the bell rings, then reset it. For one thread of the parent."""
        ear = select.poll()
        ear.register(self._ear, select.POLLIN)
        ear.poll()
        with suppress(BlockingIOError):
            os.read(self._ear, 65536)


bell = Bell()  # the parent imports it before it forks, so all processes of a worker share the pipe
