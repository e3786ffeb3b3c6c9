"""Dispatch: decide who gets the free slots, then hand the claimed jobs over.

`on_commit()` asks for one when the caller's transaction commits; `dispatch()` is one. How jobs travel is not decided
here: `connect` is given the callable that carries them.
"""

from collections.abc import Callable, Iterator, Sequence

from asgiref.local import Local
from django.db import transaction

from jobs import store
from jobs.store import Claimed, Lane, Pass

MOST_PASSES = 200  # of one dispatch; what is left then is the next one's

HandOver = Callable[[Sequence[Claimed]], None]

_asked = Local()
_carrier: HandOver | None = None
_relay: Callable[[], object] | None = None


def connect(carrier: HandOver) -> None:
    """Say how claimed jobs reach a worker. The carrier raises nothing: what it loses, recover sends again."""
    global _carrier  # noqa: PLW0603 - wired once, when the process starts
    _carrier = carrier


def relay_to(ask: Callable[[], object] | None) -> None:
    """Say who is asked to make the dispatches of commits; None: whoever commits makes them, before it goes on."""
    global _relay  # noqa: PLW0603 - wired once, when a process starts
    _relay = ask


def request() -> None:
    """Have a dispatch made: by whoever makes them in this process, or at once."""
    (_relay or dispatch)()


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Give claimed jobs to the carrier."""
    if claimed and _carrier is not None:
        _carrier(claimed)


def dispatch(*, in_line: bool = True) -> int:
    """Fill the free slots; the number of jobs claimed.

    in_line: go home when another dispatch is waiting at the door, whose claim will see what this one would (I2).
    The clock does not, so that a waiter that died there is made good.
    """
    total = 0
    for claimed in _passes(in_line=in_line):
        total += len(claimed)
        hand_over(claimed)
    return total


def dispatch_and_keep(pool: str) -> Claimed | None:
    """Fill the free slots, and keep the first job for that pool: whoever dispatches runs it, without a message."""
    kept: Claimed | None = None
    for claimed in _passes(in_line=True):
        if kept is None:
            kept = next((job for job in claimed if job.pool == pool), None)
        hand_over([job for job in claimed if job is not kept])
    return kept


def _passes(*, in_line: bool) -> Iterator[Pass]:
    locked: set[Lane] = set()
    for _ in range(MOST_PASSES):
        # A pass that leaves lanes out must not be relied on by others, who may be there for just those: not in line.
        claimed = store.claim(in_line=in_line and not locked, locked=locked)
        locked |= claimed.locked
        yield claimed
        if any(job.limited for job in claimed):
            store.wake_clock()  # it has to know when the next token is there
        if not claimed.more:
            return


def on_commit() -> None:
    """Dispatch once when the caller's transaction commits, however often it asked."""
    _asked.pending = True
    # robust: the work is stored and accepted; a dispatch that fails is logged and made good by the clock
    transaction.on_commit(_once, robust=True)


def _once() -> None:
    """The first of a transaction's requests that was not rolled back dispatches for all: everything is committed."""
    if getattr(_asked, "pending", False):
        _asked.pending = False
        request()
