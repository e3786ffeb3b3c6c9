"""The door: a pass goes through it, takes what has changed into the books, and claims the first jobs in line."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakSet

import psycopg
from django.db.transaction import TransactionManagementError

from jobs.allocation import order
from jobs.sql import statement
from jobs.store import clock
from jobs.store.attempts import logged_start, most_time, starting
from jobs.store.pipeline import pipeline
from jobs.store.rows import Claimed, Seat, Started, log, prepared, rows
from jobs.store.session import session, transaction
from jobs.store.settling import Ending
from plumbing.wire import Answer

# The rules of the claim.
# visits: the most lanes of a queue in one pass.
# seconds: the time after which a pass visits no further lane.
# queues: the most queues of a pool that a pass visits beyond the pool's room.
RULES = {
    "credit": order.CREDIT_SECONDS,
    "slot": order.SLOT_SECONDS,
    "batch": order.JOBS_OF_A_PASS,
    "quantum": order.SHORTEST_QUANTUM,
    "visits": order.LANES_OF_A_PASS,
    "seconds": 0.1,
    "queues": order.QUEUES_BEYOND_ROOM,
}
IDLE = 8  # queues that may be awake without work
SPAN = 1000  # versions of turns that may lie between the oldest that is read and the newest
OUT_OF_LINE = {"in_line": False, "keeps": None, "hears": False}  # a knock that takes no waiting place


class Pass(list[Claimed]):
    """The jobs that one pass claimed, in the order of the turns.

    more: whether another pass may find room for a further job.
    locked: the lanes with too few unlocked jobs, in the form in which the next pass takes them.
    uncounted: whether the books must be counted anew.
    ends: whether there is news for the reader of ends.
    started: the job that the caller keeps, if it could be started.
    went_home: whether another dispatch waits at the door, and does the work.
    idle: whether processes are left for which no job could be found.
    resting: whether tenants that hold all of their slots could borrow those processes.
    full: whether all processes have a job, and others wait. Then a process that becomes free makes the next pass.
    """

    more = uncounted = ends = idle = resting = full = False
    locked: frozenset[str] = frozenset()
    started: Started | None = None

    def __init__(self, claimed: Iterable[Claimed] = (), *, went_home: bool = False) -> None:
        super().__init__(claimed)
        self.went_home = went_home


@dataclass(frozen=True)
class Keeper:
    """A seat that starts, without a message, the first job of its pool that its pass claims."""

    pool: str
    seat: Seat


def claim(
    *,
    in_line: bool = True,
    crowded: bool = False,
    locked: Collection[str] = (),
    keeper: Keeper | None = None,
    ahead: Ending | None = None,
    borrow: bool = False,
) -> Pass:
    """created -> queued, inside the door; empty also if another dispatch is waiting there and will do the work.

    crowded: wait first for the answer whether another dispatch is waiting. For a pass that enters, this is one more
    round trip. A pass that goes home saves the fold and the claim, which cost twenty times the knock even if they do
    nothing.
    locked: lanes to skip, since an earlier pass of this dispatch met locked rows there.
    keeper: the caller. After a lost answer it must ask the database which job it holds.
    ahead: a success to commit before the pass. Its `applied` tells the result, also after an error.
    borrow: let tenants hold more than their slots, up to their burst_slots, if no tenant could start a job within its
    own slots.

    All statements inside the door are sent at once, so that no client can stall while it holds the door. The commit is
    asynchronous: if the server crashes and loses it, the jobs are still created and their messages start nothing. Each
    connection plans each statement once: a plan for the actual parameters is no better, and costs more than the claim.

    Raises Django's IntegrityError if the books are wrong; `recount_books` corrects them.
    """
    if session().in_atomic_block:
        raise TransactionManagementError("A dispatch is a transaction of its own; ask for it on commit.")
    plan()
    to_fold, to_claim = _parameters(locked, borrow=borrow)
    begun = None
    try:
        with pipeline() as pipe:
            if ahead is not None:
                ahead.send(pipe)
            pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
            knocked = pipe.add(statement("knock"), in_line=in_line, keeps=keeper and keeper.pool, hears=crowded)
            if crowded:
                pipe.hear()
                if not _waits(knocked):
                    pipe.add("COMMIT")
                    return Pass(went_home=True)
            pipe.add(statement("enter"))
            folded, claimed = pipe.add(statement("fold"), **to_fold), pipe.add(statement("claim"), **to_claim)
            pipe.add("COMMIT")
            if keeper is not None:  # durable, unlike the claim; the other jobs are handed over only after this
                begun = pipe.add(statement("start_kept"), **starting(keeper.seat))
    finally:
        if ahead is not None:
            ahead.hear()
    if not crowded and not _waits(knocked):
        return Pass(went_home=True)
    done = decided(folded.rows(), claimed.rows())
    if keeper is not None and begun is not None:
        done.started = logged_start(begun.rows(), keeper.seat)
    return done


_planned: WeakSet[psycopg.Connection[Any]] = WeakSet()


def plan() -> None:
    """Have a new session plan the fold and the claim, which takes ten times as long as to run them.

    Inside the door all processes of a fleet that begins would wait for that, one after the other. So both statements
    run once outside, where they do nothing.
    """
    connection = session()
    connection.ensure_connection()
    if connection.connection in _planned or connection.connection.prepare_threshold is None:
        return  # a pooler's session keeps no plan
    with pipeline() as pipe:
        pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
        pipe.add(statement("knock"), **OUT_OF_LINE)
        pipe.add(statement("leave_door"))
        to_fold, to_claim = _parameters((), borrow=False)
        pipe.add(statement("fold"), **to_fold)
        pipe.add(statement("claim"), **to_claim)
        pipe.add("COMMIT")
    _planned.add(connection.connection)


def _waits(knocked: Answer) -> bool:
    """Return whether this pass has the waiting place, or needs none."""
    return any(waits for waits, *_ in knocked.rows())


def worth_a_pass() -> bool:
    """Return whether a pass could decide anything, by the committed rows.

    True in a transaction, whose snapshot may be old.
    """
    return session().in_atomic_block or bool(prepared("worth")[0][0])


def claim_within(*, borrow: bool = False) -> Pass:
    """created -> queued within the caller's transaction, for a test that rolls it back: its jobs exist nowhere else.

    The statements are those of `claim`. The door stays closed to others until the transaction ends.
    """
    to_fold, to_claim = _parameters((), borrow=borrow)
    rows("enter_within")
    done = decided(prepared("fold", **to_fold), prepared("claim", **to_claim))
    rows("leave_door")
    return done


def forget_lanes(tenants: Sequence[int]) -> None:
    """Delete the rows that the door keeps of these tenants, who do not exist any more."""
    with inside_the_door():
        rows("forget_lanes", tenants=list(tenants))


def tidy_turns(idle: int = IDLE, span: int = SPAN) -> None:
    """Put queues to sleep in which nothing waits or runs, and write the other turns anew, if it is worth it.

    idle: the most queues that may be awake without work.
    span: the most versions of turns between the oldest that is read and the newest; four more for each queue.
    """
    if rows("untidy_turns", idle=idle, span=span, now=clock.moment())[0][0]:
        with inside_the_door():
            rows("tidy_turns", now=clock.moment())


@contextmanager
def inside_the_door() -> Iterator[None]:
    """Open a transaction in which no dispatch decides."""
    with transaction():
        rows("knock", **OUT_OF_LINE)
        rows("join_as_sets")
        rows("enter")
        yield
        rows("leave_door")


def _parameters(locked: Collection[str], *, borrow: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the fold, and those of the claim."""
    both = {"now": clock.moment(), "borrow": borrow}
    queues = {int(lane.split(":")[0]) for lane in locked}
    return most_time() | both, RULES | both | {"locked": list(locked), "locked_queues": list(queues)}


def decided(folded: Sequence[tuple[Any, ...]], claimed: Sequence[tuple[Any, ...]]) -> Pass:
    """Log and return the pass that the fold and the claim have made. The claim's last row is the verdict."""
    ((letters_left, ends, resting),) = folded
    *jobs, (*_, more_to_claim, locked, uncounted, idle, waits) = claimed
    done = Pass(Claimed(*row[: len(fields(Claimed))]) for row in jobs)
    done.more = letters_left or more_to_claim or bool(locked)
    done.locked, done.uncounted, done.ends = frozenset(locked), bool(uncounted), ends
    done.idle, done.resting = bool(idle), resting
    done.full = waits and not idle
    for job in done:
        log("claim", job.id, job.attempt, tenant=job.tenant_id, pool=job.pool, waited=f"{job.waited:.3f}s")
    return done
