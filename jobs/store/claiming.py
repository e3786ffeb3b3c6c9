"""The door: a pass goes through it, takes what has changed into the books, and claims the first jobs in line."""

import uuid
from collections.abc import Collection, Iterator, Sequence
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
from jobs.store.pipeline import Pipeline, pipeline
from jobs.store.rows import Claimed, Pass, Seat, log, prepared, rows
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


@dataclass(frozen=True)
class Keeper:
    """A seat that starts, without a message, the first job of its pool that its pass claims."""

    pool: str
    seat: Seat


@dataclass(frozen=True)
class FreeSeats:
    """A worker of a light pool, for whose free seats a pass claims. Only such a pass claims jobs of that pool.

    seats: the most jobs that it takes of its pool.
    """

    worker: uuid.UUID
    pool: str
    seats: int


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


def claim_for(feeder: FreeSeats, pipe: Pipeline, *, locked: Collection[str], borrow: bool) -> tuple[Answer, Answer]:
    """created -> queued: add the pass of a feeder to a pipeline. Return what `decided` reads.

    It does not go home if another dispatch waits at the door, since that one claims nothing for these seats.
    """
    to_fold, to_claim = _parameters(locked, borrow=borrow, feeder=feeder)
    pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    pipe.add(statement("knock"), **OUT_OF_LINE | {"keeps": feeder.pool})
    pipe.add(statement("enter"))
    answers = pipe.add(statement("fold"), **to_fold), pipe.add(statement("claim"), **to_claim)
    pipe.add("COMMIT")
    return answers


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
        to_fold, to_claim = _parameters()
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


def claim_within(*, borrow: bool = False, feeder: FreeSeats | None = None) -> Pass:
    """created -> queued within the caller's transaction, for a test that rolls it back: its jobs exist nowhere else.

    The statements are those of `claim`. The door stays closed to others until the transaction ends.
    """
    to_fold, to_claim = _parameters(borrow=borrow, feeder=feeder)
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


def _parameters(
    locked: Collection[str] = (), *, borrow: bool = False, feeder: FreeSeats | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the fold, and those of the claim."""
    both = {"now": clock.moment(), "borrow": borrow}
    queues = {int(lane.split(":")[0]) for lane in locked}
    skips = {"locked": list(locked), "locked_queues": list(queues)}
    return most_time() | both, RULES | both | skips | _claims_for(feeder)


def _claims_for(feeder: FreeSeats | None) -> dict[str, Any]:
    """Return whose seats the claim fills. The bound of a pass rises to these.

    The worker is given as text, whose type is that of None: with another one the server would plan the claim anew.
    """
    if feeder is None:
        return {"feeder": None, "seats": 0}
    return {"feeder": str(feeder.worker), "seats": feeder.seats, "batch": max(RULES["batch"], feeder.seats)}


def decided(folded: Sequence[tuple[Any, ...]], claimed: Sequence[tuple[Any, ...]]) -> Pass:
    """Log and return the pass that the fold and the claim have made. The claim's last row is the verdict."""
    ((letters_left, ends, resting),) = folded
    *jobs, (*_, more_to_claim, locked, uncounted, idle, waits, rings, spent) = claimed
    done = Pass(Claimed(*row[: len(fields(Claimed))]) for row in jobs)
    done.more = letters_left or more_to_claim or bool(locked)
    done.locked, done.uncounted, done.ends = frozenset(locked), bool(uncounted), ends
    done.idle, done.resting, done.spent = bool(idle), resting, bool(spent)
    done.full, done.rings = waits and not idle and not rings, tuple(sorted({*rings}))
    for job in done:
        log("claim", job.id, job.attempt, tenant=job.tenant_id, pool=job.pool, waited=f"{job.waited:.3f}s")
    return done
