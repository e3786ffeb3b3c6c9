"""A trip of the feeder of a light pool: what its seats have ended and what they may start, in one round trip."""

import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.transaction import TransactionManagementError

from jobs.allocation.order import JOBS_OF_A_FEEDER
from jobs.sql import statement
from jobs.store import clock
from jobs.store.attempts import all_started, default_timeout, log_start, started
from jobs.store.claiming import FreeSeats, claim_for, decided, plan
from jobs.store.pipeline import Pipeline, pipeline
from jobs.store.rows import Pass, Started, rows
from jobs.store.session import session
from jobs.store.settling import Stats, Units, log_follow, log_success, units_as_text
from plumbing.wire import Answer

MOST = JOBS_OF_A_FEEDER  # ends, and claims, of one trip

Attempt = tuple[int, int]  # the job, and the number of its attempt


@dataclass(frozen=True)
class Success:
    """An attempt that succeeded.

    result_ttl: seconds to keep the result; None: it was not kept.
    result_bytes: the size of the result.
    units: what it used, by unit; None: as its last progress said, or nothing.
    goes_on: whether its time slice goes on: the next job of its lane may follow, in its slot, process and seat.
    """

    job: Started
    stats: Stats
    result_ttl: float | None = None
    result_bytes: int | None = None
    units: Units | None = None
    goes_on: bool = False


class Trip:
    """One trip for the seats of a worker of a light pool.

    settled: the attempts that were settled; None: not known, since the commit was not answered.
    followed: the attempts that follow in their slots, by the attempt before.
    started: the attempts that were started, called ones and claimed ones; each has its process in `holder.pid`.
    done: the pass, with the jobs of all pools; None: there was none.
    """

    def __init__(
        self,
        worker: uuid.UUID,
        pool: str,
        *,
        ended: Sequence[Success] = (),
        called: Sequence[Attempt] = (),
        free: Sequence[int] = (),
        suspects: int = 0,
        claims: bool = False,
        locked: Collection[str] = (),
        borrow: bool = False,
    ) -> None:
        """Take what the trip shall do. Raises ValueError if that is too much for one.

        pool: that of the worker.
        ended: at most MOST.
        called: the attempts of messages, at most one for each free seat. One that may not start is not in `started`.
        free: the process of each free seat. The first are those of the called attempts, in their order; the next,
            those of the claimed jobs.
        suspects: so many of the called attempts, the first ones, may be suspects. No other suspect starts.
        claims: whether to make a pass. It claims at most MOST jobs of this pool, and at most one for each seat that is
            left; and jobs of ordinary pools.
        locked, borrow: as in `claim`.
        """
        if len(ended) > MOST or len(called) > len(free):
            raise ValueError(f"A trip has at most {MOST} ends, and a free seat for each called attempt.")
        self._feeder = FreeSeats(worker, pool, seats=min(MOST, len(free) - len(called)))
        self._ended = sorted(ended, key=lambda success: success.job.id)  # rows are locked in the order of their numbers
        self._called, self._free, self._suspects, self._claims = called, free, suspects, claims
        self._locked, self._borrow = locked, borrow
        self._settles: tuple[Answer, Answer] | None = None  # of the statement, and of its commit
        self._decides: tuple[Answer, Answer] | None = None
        self._starts: Answer | None = None
        self.settled: frozenset[Attempt] | None = None if ended else frozenset()
        self.followed: dict[Attempt, Started] = {}
        self.started: list[Started] = []
        self.done: Pass | None = None

    def make(self) -> None:
        """Settle, follow, claim and start. Raises Django's errors; then `settled` and `followed` say what is known.

        After an error the caller must ask the database what its processes hold.
        """
        if session().in_atomic_block:
            raise TransactionManagementError("A trip has transactions of its own.")
        plan()
        with pipeline() as pipe:
            self._send(pipe)
            try:
                pipe.hear()
            finally:
                self._hear_ends()
        self._hear_starts()

    def _send(self, pipe: Pipeline) -> None:
        moment = {"worker": self._feeder.worker, "now": clock.moment(), "default_timeout": default_timeout()}
        if self._ended:
            pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
            self._settles = pipe.add(statement("succeed_many"), **moment, **in_arrays(self._ended)), pipe.add("COMMIT")
        if self._claims:
            self._decides = claim_for(self._feeder, pipe, locked=self._locked, borrow=self._borrow)
        if self._called or self._claims:  # durable, unlike the claim
            called = {"ids": [job_id for job_id, _ in self._called], "attempts": [number for _, number in self._called]}
            starts = called | {"pids": list(self._free), "suspects": self._suspects, "kept": self._claims}
            self._starts = pipe.add(statement("start_many"), **moment, **starts)

    def _hear_ends(self) -> None:
        """Read what was settled while the session lives, even if the trip failed later."""
        if self._settles is None or self._settles[1].status != "COMMIT":
            return
        self.settled, self.followed = settled_by(self._settles[0].rows(), self._ended)

    def _hear_starts(self) -> None:
        if self._decides is not None:
            folded, claimed = self._decides
            self.done = decided(folded.rows(), claimed.rows())
        if self._starts is not None:
            self.started = begun_by(self._starts.rows(), self._feeder.worker)


def is_suspect(job_id: int, attempt: int) -> bool:
    """Return whether an attempt waits to start, and starts only as a suspect."""
    return bool(rows("is_suspect", id=job_id, attempt=attempt))


def note_in_hand(suspects: Sequence[Attempt]) -> None:
    """Note that these attempts are in hand, and no lost messages."""
    rows("note_in_hand", ids=[job_id for job_id, _ in suspects], attempts=[number for _, number in suspects])


Rows = Sequence[tuple[Any, ...]]  # of the answer to a statement


def settled_by(answer: Rows, ended: Sequence[Success]) -> tuple[frozenset[Attempt], dict[Attempt, Started]]:
    """Log and return the attempts that `succeed_many` has settled, and those that follow, by the attempt before."""
    jobs = {(success.job.id, success.job.attempt): success.job for success in ended}
    followed: dict[Attempt, Started] = {}
    for job_id, attempt, *columns, _ in answer:
        job = jobs[job_id, attempt]
        log_success(job)
        following = started([tuple(columns)], job.holder, job.holder.since)
        if following is not None:
            followed[job_id, attempt] = following
            log_follow(following)
    return frozenset((job_id, attempt) for job_id, attempt, *_ in answer), followed


def begun_by(answer: Rows, worker: uuid.UUID) -> list[Started]:
    """Log and return the attempts that `start_many` has started."""
    begun = all_started(answer, worker)
    for job in begun:
        log_start(job)
    return begun


def in_arrays(ended: Sequence[Success]) -> dict[str, list[Any]]:
    """Return the parameters of `succeed_many` that say what has ended."""
    return {
        "ids": [success.job.id for success in ended],
        "attempts": [success.job.attempt for success in ended],
        "pids": [success.job.holder.pid for success in ended],
        "since": [success.job.holder.since for success in ended],
        "stats": [json.dumps(success.stats) for success in ended],
        "ttls": [success.result_ttl for success in ended],
        "sizes": [success.result_bytes for success in ended],
        "units": [units_as_text(success.units) for success in ended],
        "goes_on": [success.goes_on for success in ended],
    }
