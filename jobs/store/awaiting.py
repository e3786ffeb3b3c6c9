"""Jobs that wait for others: their edges, and the news of ends that move them on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.lifecycle import Status
from jobs.sql import statement
from jobs.store import clock
from jobs.store.pipeline import pipeline
from jobs.store.rows import Applied, log, prepared, rows
from jobs.store.session import session

BATCH = 1000  # news, or followers of one job, in one turn


@dataclass(frozen=True)
class Edge:
    """A follower and one of its predecessors.

    whatever: whether the predecessor may end in any way; otherwise it must succeed.
    patience: seconds in which a predecessor that did not succeed may be revived; None: none.
    """

    predecessor: int
    follower: int
    whatever: bool
    patience: float | None


def unknown(ids: Sequence[int], *, tenant_id: int) -> list[int]:
    """Return the ids that are no job and no batch of the tenant's."""
    return [job_id for (job_id,) in rows("unknown", ids=list(ids), tenant_id=tenant_id)]


def note_edges(edges: Sequence[Edge]) -> None:
    """Make these new jobs wait for their predecessors."""
    rows(
        "note_edges",
        predecessors=[edge.predecessor for edge in edges],
        followers=[edge.follower for edge in edges],
        whatever=[edge.whatever for edge in edges],
        patience=[edge.patience for edge in edges],
    )


def note_sequences(sequences: Collection[tuple[int, str]]) -> None:
    """Have the reader look whose turn it is in these sequences. Each is the id of a tenant and a name."""
    tenants, names = zip(*sequences, strict=True)
    rows("note_sequences", tenants=list(tenants), sequences=list(names))


@dataclass(frozen=True)
class Turn:
    """The result of one turn of reading news of ends.

    mine: whether the caller was the reader.
    moved: the jobs that wait no longer.
    noted: the ids of the news that was noted again, since rows were locked.
    """

    mine: bool
    moved: list[Applied]
    noted: list[int]


def read_ends() -> Turn:
    """blocked -> created for jobs whose predecessors have ended, and whose turn it is in their sequence.

    blocked -> cancelled if a predecessor did not succeed.

    All goes through one pipeline, so that no client can stall while it is the reader.
    """
    parameters = {"batch": BATCH, "now": clock.moment()}
    if session().in_atomic_block:
        return _turn(rows("hear", own=False), prepared("read_ends", **parameters))
    with pipeline() as pipe:
        pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
        heard = pipe.add(statement("hear"), own=True)
        read = pipe.add(statement("read_ends"), **parameters)
        pipe.add("COMMIT")
    return _turn(heard.rows(), read.rows())


def is_news(beside: Sequence[int] = ()) -> bool:
    """Return whether there is news of ends, beside those rows."""
    return bool(prepared("is_news", beside=list(beside))[0][0])


def _turn(heard: Sequence[tuple[Any, ...]], read: Sequence[tuple[Any, ...]]) -> Turn:
    moved = [row for row in read if row[0] is not None]
    for job_id, attempt, tenant_id, status in moved:
        log("unblock" if status == Status.CREATED else "drop", job_id, attempt, tenant=tenant_id)
    return Turn(
        heard[0][0] == "true", [Applied(*row[:3]) for row in moved], [int(row[3]) for row in read if row[0] is None]
    )
