"""The calls of a feeder: attempts that its next trip starts by their names, before it claims others.

They are those of messages, and those that a claim or a call before has left unstarted: their rows may be locked for a
moment. Who is left out twice is looked after in a thread, since its type may be paused, or its time to start over.
"""

from collections import deque
from collections.abc import Collection, Sequence

from jobs.worker.light.alone import Alone
from jobs.worker.light.processes import Key


class Calls:
    """Only the feeder's thread uses them, but any may add to `called`.

    called: the attempts of messages.
    """

    def __init__(self, called: deque[Key], alone: Alone) -> None:
        self._called, self._alone = called, alone
        self._missed: set[Key] = set()

    def __len__(self) -> int:
        return len(self._called)

    def take(self, most: int) -> list[Key]:
        """Take the first ones, for a trip."""
        return [self._called.popleft() for _ in range(min(len(self._called), most))]

    def put_back(self, called: Sequence[Key]) -> None:
        """Call these again: their trip has no answer."""
        self._called.extend(called)

    def note(self, called: Sequence[Key], claimed: Sequence[Key], started: Collection[Key]) -> None:
        """Note what a trip has started, of what it was called for and what it has claimed."""
        left = [key for key in called if key not in started]
        twice = [key for key in left if key in self._missed]
        self._missed.difference_update(called)
        self._alone.look_after(twice)
        again = [key for key in [*left, *claimed] if key not in started and key not in {*twice}]
        self._missed.update(again)
        self._called.extend(again)
