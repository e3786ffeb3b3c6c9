"""Dispatch: decide which jobs get the free slots, then send them to workers.

A dispatch makes one pass after the other. A pass is one transaction (steps 1 to 5, `store.claim`) and its messages:

1. Knock: take the only waiting place at the door, an advisory lock. If another dispatch has it, go home: that
   dispatch will see this one's work (I2).
   A thread whose last dispatch went home waits for this answer before it sends more. So in a crowd most dispatches
   cost a knock alone.
2. Enter: wait until the dispatch inside commits, since one dispatch decides at a time (I1). Then give up the waiting
   place: from now on the next dispatch may wait.
3. Fold: take the arrivals and the freed slots since the last dispatch into the books.
4. Claim: choose the fairest jobs up to the room and all limits. Give each a slot and count its attempt.
5. Commit, which opens the door. A process that keeps a job for itself starts it in the same pipeline.
6. Hand over: send one message for each claimed job to the Celery queue of its pool. Recover repeats lost messages.
7. If there is news of jobs that others wait for, have it read (`engine/door/unblock.py`). If a budget is used up, or
   no longer, hold or release the jobs that spend it (`engine/door/budgets.py`).
8. If the claim left room (`more`), go to 1, now without the lanes whose jobs others had locked. If a job was unblocked
   or released, go to 1 with all lanes: it may stand in one of those.
9. If processes are still free, go to 1 with a pass that lends them to tenants that hold all of their slots.

`dispatch()` makes a dispatch; `on_commit()` requests one for when the caller's transaction commits. The runtime of the
process decides what sends the messages, and which thread makes the requested dispatches.
"""

import threading
from collections.abc import Collection, Iterator, Sequence
from weakref import WeakSet

from django.db import DEFAULT_DB_ALIAS, DatabaseError, IntegrityError, InterfaceError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from jobs import store, telemetry
from jobs.allocation.order import MAX_PASSES
from jobs.engine.door.budgets import hold_or_release
from jobs.engine.door.repairs import recount_books
from jobs.engine.door.unblock import unblock_safely
from jobs.engine.process import runtime
from jobs.store import Claimed, Ending, Keeper, Pass, Started

_thread = threading.local()
_requested: WeakSet[BaseDatabaseWrapper] = WeakSet()  # tasks of asyncio, and two threads, may share a transaction


def request() -> None:
    """Request a dispatch from the dispatcher of this process; without one, dispatch at once."""
    (runtime.current().relay or serve)()


def serve() -> bool:
    """Make a requested dispatch, if there is anything to decide; return whether the pools are full.

    While pools are full, as in a flood of submits, there is nothing to decide, and a look costs a fraction of a pass.
    Otherwise a look is one more round trip. So a thread looks first only if its last dispatch claimed nothing. The
    clock does not look, nor does a process that has freed a slot.
    """
    if not getattr(_thread, "in_vain", False) or store.worth_a_pass():
        _thread.in_vain = not dispatch()
    return getattr(_thread, "full", False)


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Send claimed jobs to workers."""
    if claimed and (carrier := runtime.current().carrier):
        carrier(claimed)


def ring(pools: Collection[str]) -> None:
    """Ring for light pools, whose feeders claim for their free seats. Each second they look anyway."""
    if pools:
        try:
            store.ring(pools)
        except (DatabaseError, InterfaceError) as error:
            telemetry.noticed("ring not sent", error=type(error).__name__)


def dispatch(*, in_line: bool = True) -> int:
    """Fill the free slots; return the number of claimed jobs.

    in_line: go home if another dispatch is waiting at the door, since its claim will see the same work (I2).
    The clock passes False, so that it makes up for a waiting dispatch that died.
    """
    total = 0
    for claimed in _passes(in_line=in_line):
        total += len(claimed)
        hand_over(claimed)
    return total


def dispatch_and_keep(keeper: Keeper | None, ahead: Ending | None = None) -> Started | Claimed | None:
    """Fill the free slots, and return the first claimed job of the caller's pool, which it runs without a message.

    Usually the first pass has started that job. A Claimed is not started yet. After an error the caller must ask the
    database which job it holds.

    keeper: the caller; None: it keeps no job.
    ahead: the success that freed a slot; the first pass settles it in its pipeline.
    """
    kept: Started | Claimed | None = None
    for claimed in _passes(in_line=True, keeper=keeper, ahead=ahead):
        kept = kept or claimed.started or next((job for job in claimed if keeper and job.pool == keeper.pool), None)
        hand_over([job for job in claimed if kept is None or job.id != kept.id])
    return kept


def _passes(*, in_line: bool, keeper: Keeper | None = None, ahead: Ending | None = None) -> Iterator[Pass]:
    """Make pass after pass, until there is nothing more to claim; yield each.

    Its twin in memory: `dispatch` in allocation/passes.py.
    """
    locked: set[str] = set()
    borrow = False
    for _ in range(MAX_PASSES):
        # Do not take the waiting place for a pass that skips lanes: another dispatch may have come for just those.
        claimed = _pass(in_line=in_line and not locked, locked=locked, keeper=keeper, ahead=ahead, borrow=borrow)
        locked |= claimed.locked
        keeper = ahead = None  # once is enough
        yield claimed
        ring(claimed.rings)
        if any(job.limited for job in claimed):
            store.wake_clock()  # the clock must learn when the next token is due
        unblocked = claimed.ends and unblock_safely()
        if claimed.spent:
            unblocked = hold_or_release() or unblocked
        if unblocked:
            locked.clear()
        if claimed.uncounted:
            recount_books()
        elif claimed.more or unblocked:
            borrow = False
        elif claimed.idle and claimed.resting and (claimed or not borrow):
            borrow = True
        else:
            return


def _pass(*, in_line: bool, locked: set[str], keeper: Keeper | None, ahead: Ending | None, borrow: bool) -> Pass:
    """Make one pass. If the database refuses it, the books are wrong, which should not be: correct them; try again."""
    crowded = in_line and getattr(_thread, "went_home", False)
    try:
        done = store.claim(in_line=in_line, crowded=crowded, locked=locked, keeper=keeper, ahead=ahead, borrow=borrow)
    except IntegrityError:
        if ahead is not None and ahead.applied is None:
            raise  # that success may be what failed, and it has to be settled
        recount_books()
        done = store.claim(in_line=in_line, locked=locked, keeper=keeper, borrow=borrow)
    _thread.went_home, _thread.full = done.went_home, done.full
    return done


def on_commit() -> None:
    """Dispatch once when the caller's transaction commits, however often this is called in it."""
    _requested.add(connections[DEFAULT_DB_ALIAS])
    # robust: the job is stored by now; a failed dispatch is logged, and the clock makes up for it
    transaction.on_commit(_once, robust=True)


def _once() -> None:
    """Dispatch once for all requests of a transaction: the first that was not rolled back serves them all.

    Not inside the transaction of a TestCase that runs its on-commit callbacks: other sessions do not see its jobs yet.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection in _requested:
        _requested.discard(connection)
        if not connection.in_atomic_block:
            request()
