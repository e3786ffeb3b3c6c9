"""Wake the dispatcher of a worker's parent: a process does so after a body has submitted a job.

So no body waits for the door or the broker, and one dispatch serves many submits.
"""

import os
import select
from contextlib import suppress

from jobs.engine.door.dispatcher import Wakeup


class WakeupPipe(Wakeup):
    """A non-blocking pipe, created in the parent before its pool forks. If it is full, the dispatcher wakes anyway."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)

    def request(self) -> None:
        with suppress(OSError):  # never raises: the clock makes up for a lost request
            os.write(self._write_end, b"!")

    def wait(self) -> None:
        poll = select.poll()
        poll.register(self._read_end, select.POLLIN)
        poll.poll()
        with suppress(BlockingIOError):
            os.read(self._read_end, 65536)


wakeup = WakeupPipe()  # the parent imports it before it forks, so all processes of a worker share the pipe
