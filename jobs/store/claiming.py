"""The waiting jobs: due jobs join them, jobs of a paused type leave them, and the claim takes the first ones."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import psycopg
from django.db import transaction
from django.db.transaction import TransactionManagementError

from jobs.allocation import order
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.sql import statement
from jobs.store import clock
from jobs.store.attempts import begin, most_time, starting
from jobs.store.rows import Applied, Claimed, Due, Process, Started, log, moved, prepared, rows
from jobs.store.session import session
from jobs.store.settling import Ending


def promote(batch: int = 1000, now: datetime | None = None) -> list[Due]:
    """scheduled -> created for at most `batch` due jobs; hold those of a paused type."""
    found = rows("promote", batch=batch, held_until=HELD_UNTIL, now=now)
    due = [Due(job_id, attempt, tenant_id, status == Status.SCHEDULED) for job_id, attempt, tenant_id, status in found]
    for job in due:
        log("hold" if job.held else "promote", job.id, job.attempt, tenant=job.tenant_id)
    return due


def next_moment(now: datetime | None = None) -> float | None:
    """Seconds until a job is due or a rate limit has a token (negative: late); None if nothing is expected."""
    seconds: float | None = rows("next_moment", held_until=HELD_UNTIL, now=now)[0][0]
    return seconds


def hold(source_type: str, source_method: str) -> list[Applied]:
    """created -> scheduled for the waiting jobs of a paused type."""
    found = rows("hold", source_type=source_type, source_method=source_method, held_until=HELD_UNTIL)
    return moved("hold", found)


def release(now: datetime | None = None) -> list[Applied]:
    """scheduled -> created for the held jobs whose type is not paused."""
    return moved("release", rows("release", held_until=HELD_UNTIL, now=now))


# The rules of the claim. visits: the most lanes of a queue in one pass. seconds: until it visits no further lane.
RULES = {
    "credit": order.CREDIT_SECONDS,
    "slot": order.SLOT_SECONDS,
    "batch": order.JOBS_OF_A_PASS,
    "quantum": order.SHORTEST_QUANTUM,
    "visits": 1000,
    "seconds": 0.1,
}


class Pass(list[Claimed]):
    """The jobs that one pass claimed, in the order of the turns.

    more: whether another pass may find room for a further job. locked: the lanes with too few unlocked jobs, as the
    next pass takes them. uncounted: whether the books must be counted anew. ends: whether there is news for the reader
    of ends. started: the job that the caller keeps, if it could be started.
    """

    started: Started | None = None

    def __init__(self, folded: Sequence[tuple[Any, ...]], rows: Sequence[tuple[Any, ...]]) -> None:
        *claimed, verdict = rows
        super().__init__(Claimed(*row[: len(fields(Claimed))]) for row in claimed)
        ((letters_left, self.ends),) = folded
        *_, more_to_claim, locked, uncounted = verdict
        self.more = letters_left or more_to_claim or bool(locked)
        self.locked = frozenset(locked)
        self.uncounted = bool(uncounted)


@dataclass(frozen=True)
class Keeper:
    """A worker process that starts, without a message, the first job of its pool that its pass claims."""

    pool: str
    process: Process


def claim(
    *,
    in_line: bool = True,
    locked: Collection[str] = (),
    keeper: Keeper | None = None,
    ahead: Ending | None = None,
    now: datetime | None = None,
) -> Pass:
    """created -> queued, inside the door; empty also if another dispatch is waiting there and will do the work.

    locked: lanes to skip, since an earlier pass of this dispatch met locked rows there. keeper: the caller, which must
    ask what it holds after a lost answer. ahead: a success to commit before; it says what became of it, also after an
    error. Raises Django's IntegrityError if the books are wrong; recount_books() mends them.

    All statements go through one pipeline, so that no client can stall while it holds the door. The commit is
    asynchronous: if the server crashes and loses it, the jobs are still created and their messages start nothing. Each
    connection plans each statement once: a plan for the actual parameters is no better, and costs more than the claim.
    """
    connection = session()
    if connection.in_atomic_block:
        raise TransactionManagementError("A dispatch is a transaction of its own; ask for it on commit.")
    connection.ensure_connection()
    raw = connection.connection
    plain, folded, claimed, begun = (psycopg.Cursor(raw) for _ in range(4))
    prepare = raw.prepare_threshold is not None
    settled, parameters = _parameters(locked, now)
    try:
        with connection.wrap_database_errors, raw.pipeline():  # callers expect Django's errors
            if ahead is not None:
                ahead.send(raw, prepare=prepare)
            plain.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            if keeper is not None:
                plain.execute(statement("keep"), {"pool": keeper.pool}, prepare=prepare)
            plain.execute(statement("knock"), {"in_line": in_line}, prepare=prepare)
            plain.execute(statement("enter"), prepare=prepare)
            plain.execute(statement("give_place"), prepare=prepare)
            folded.execute(statement("fold"), settled, prepare=prepare)
            claimed.execute(statement("claim"), parameters, prepare=prepare)
            plain.execute("COMMIT")
            if keeper is not None:  # durable, unlike the claim; the other jobs are handed over only after this
                begun.execute(statement("start_kept"), starting(keeper.process, now), prepare=prepare)
    except BaseException:
        raw.close()  # the session holds the waiting place, which must not outlive a failed pass
        connection.close()
        raise
    finally:
        if ahead is not None:
            ahead.hear()
    done = _logged(Pass(folded.fetchall(), claimed.fetchall()))
    if keeper is not None:
        done.started = begin(begun.fetchall(), keeper.process)
    return done


def worth_a_pass() -> bool:
    """Whether a pass could decide anything, by what is committed. True in a transaction, whose snapshot may be old."""
    return session().in_atomic_block or bool(prepared("worth", now=None)[0][0])


def claim_within(*, now: datetime | None = None) -> Pass:
    """created -> queued within the caller's transaction, for a test that rolls it back: its jobs exist nowhere else.

    The statements are those of `claim`. The door stays closed to others until the transaction ends.
    """
    settled, parameters = _parameters((), now)
    rows("enter_within")
    done = Pass(prepared("fold", **settled), prepared("claim", **parameters))
    rows("leave_within")
    return _logged(done)


def forget_lanes(tenants: Sequence[int]) -> None:
    """Delete what the door keeps of these tenants, who do not exist."""
    with inside_the_door():
        rows("forget_lanes", tenants=list(tenants))


@contextmanager
def inside_the_door() -> Iterator[None]:
    """A transaction in which no dispatch decides."""
    with transaction.atomic(), session().cursor() as cursor:
        rows("knock", in_line=False)
        cursor.execute("SET LOCAL enable_hashjoin = on")  # the books are joined as sets
        rows("enter")
        yield
        rows("leave_within")


def _parameters(locked: Collection[str], now: datetime | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the fold, and those of the claim."""
    moment = clock.moment(now)
    return most_time() | {"now": moment}, RULES | {"now": moment, "locked": list(locked)}


def _logged(done: Pass) -> Pass:
    for job in done:
        log("claim", job.id, job.attempt, tenant=job.tenant_id, pool=job.pool, waited=f"{job.waited:.3f}s")
    return done
