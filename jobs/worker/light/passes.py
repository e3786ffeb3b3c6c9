"""The passes of a feeder: whether one is to be made, and what it carries on to the next (engine/door/dispatch.py)."""

from typing import Any

from jobs import store
from jobs.allocation.order import MAX_PASSES
from jobs.engine.door import dispatch
from jobs.engine.door.budgets import hold_or_release
from jobs.engine.door.repairs import recount_books
from jobs.engine.door.unblock import unblock_safely
from jobs.store import Trip


class Passes:
    """Only the feeder's thread uses them.

    asked: whether a pass is to be made.
    """

    def __init__(self, pool: str) -> None:
        self._pool = pool
        self.asked = True
        self._number = 0  # of passes that one request has led to
        self._locked: frozenset[str] = frozenset()
        self._borrow = False

    def ask(self) -> None:
        """Ask for a pass: there may be work."""
        self.asked, self._number, self._locked, self._borrow = True, 0, frozenset(), False

    def options(self) -> dict[str, Any]:
        """Return the options of the pass that is made now."""
        self.asked = False
        return {"locked": self._locked, "borrow": self._borrow}

    def take(self, trip: Trip) -> None:
        """Take the answer: hand over the jobs of other pools, ring for light ones, and ask for a further pass."""
        done = trip.done
        if done is None:
            return
        dispatch.hand_over([job for job in done if job.pool != self._pool])
        dispatch.ring(done.rings)
        if any(job.limited for job in done):
            store.wake_clock()
        unblocked = done.ends and unblock_safely()
        if done.spent:
            unblocked = hold_or_release() or unblocked
        if done.uncounted:
            recount_books()
        borrow = bool(done.idle and done.resting and (done or not self._borrow))
        goes_on = done.uncounted or done.more or unblocked or borrow
        self._number += 1
        self.asked = self.asked or (goes_on and self._number < MAX_PASSES)
        # A job that was unblocked may stand in a lane that was to be skipped.
        self._locked = frozenset() if unblocked else self._locked | done.locked
        self._borrow = borrow and not (done.uncounted or done.more or unblocked)
