"""The calls of a feeder: attempts that its next trip starts by their names, before it claims others.

They are suspects; those of messages; and those that a claim or a call before has left unstarted, since their rows may
be locked for a moment. Who is left out twice is looked after in a thread: its type may be paused.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobs.worker.light.alone import Alone
from jobs.worker.light.processes import Key
from jobs.worker.light.suspects import Suspects


@dataclass(frozen=True)
class Called:
    """The calls that a trip takes.

    keys: the attempts.
    seats: the process of each of them, and of each further free seat.
    suspects: how many of the attempts are suspects, the first ones.
    """

    keys: list[Key]
    seats: list[int]
    suspects: int


class CallsInHand:
    """Only the feeder's thread uses them, but any may add to `called`.

    called: the attempts of messages.
    """

    def __init__(self, called: deque[Key], alone: Alone, suspects: Suspects) -> None:
        self._called, self._alone, self._suspects = called, alone, suspects
        self._missed: set[Key] = set()

    def __len__(self) -> int:
        """Return how many wait for a free seat; suspects do not."""
        return len(self._called)

    def take(self, free: list[int], *, drains: bool) -> Called:
        """Take the first ones, for a trip.

        free: the process of each free seat.
        """
        keys = [self._called.popleft() for _ in range(min(len(self._called), len(free)))]
        if drains or (suspect := self._suspects.next()) is None:
            return Called(keys, free, 0)
        key, process = suspect
        return Called([key, *keys], [process.pid, *free], 1)

    def put_back(self, called: Called) -> None:
        """Call these again: their trip has no answer. A suspect is still in hand."""
        self._called.extend(called.keys[called.suspects :])

    def note(self, called: Called, claimed: Sequence[Key], started: Collection[Key]) -> None:
        """Note what a trip has started, of what it was called for and what it has claimed."""
        suspects, others = called.keys[: called.suspects], called.keys[called.suspects :]
        self._suspects.drop(suspects)
        twice = {key for key in others if key in self._missed} | {*suspects}
        self._missed.difference_update(others)
        left = [key for key in [*called.keys, *claimed] if key not in started]
        self._alone.look_after([key for key in left if key in twice])
        again = [key for key in left if key not in twice]
        self._missed.update(again)
        self._called.extend(again)
