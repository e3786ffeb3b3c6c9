"""The reads and the repairs of the inspection of the invariants (recording/inspection.py)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from jobs.conf import settings
from jobs.store.claiming import inside_the_door
from jobs.store.rows import objects, rows


@dataclass(frozen=True)
class Excess:
    """A level (tenant, user, queue) that holds more slots than its limit.

    newest: the moment of its latest claim.
    """

    level: str
    name: str
    in_use: int
    limit: int
    newest: datetime


def excesses() -> list[Excess]:
    """Return the levels over their limits, including limits that were lowered."""
    return objects(Excess, "excesses")


def odd_states(bound: float) -> list[tuple[str, int, str]]:
    """Return (what, job id, detail) of each job that is in a state `bound` seconds longer than it should be."""
    findings = rows(
        "odd_states",
        bound=bound,
        default_timeout=float(settings.JOBS_DEFAULT_TIMEOUT),
        grace=float(settings.JOBS_TIMEOUT_GRACE),
        patience=float(settings.JOBS_HAND_OVER_TIMEOUT),
    )
    return [(what, job_id, detail) for what, job_id, detail in findings]


@dataclass(frozen=True)
class WrongBook:
    """A book of the door that is wrong.

    book: its kind: "lane", "queue" or "tenant".
    said: the number of slots in use by the book; None: the book is missing.
    in_use: the number of slots that the jobs hold.
    """

    book: str
    tenant_id: int | None
    queue_id: int | None
    said: int | None
    in_use: int


def wrong_books() -> list[WrongBook]:
    """Return the books that have another number of slots in use than the jobs hold, or other slots."""
    return objects(WrongBook, "wrong_books")


def recount_books() -> list[WrongBook]:
    """Write the wrong books anew, inside the door; return what was wrong."""
    with inside_the_door():
        return objects(WrongBook, "recount_books")


def heads(bound: float, most: int) -> list[tuple[int, bool]]:
    """Return the first jobs of at most `most` lanes, if they have waited for `bound` seconds.

    Each comes with whether its lane is lost: then no dispatch will visit the lane.
    """
    return rows("heads", bound=bound, most=most)


def open_lanes() -> None:
    """Open lanes that would wait longer for a token than a limit allows, since PostgreSQL's clock was set back."""
    rows("open_lanes")


def find_lane(job_ids: Collection[int]) -> int:
    """Tell the next dispatch about these waiting jobs; return how many of them still wait."""
    waiting: int = rows("find_lane", ids=list(job_ids))[0][0]
    return waiting
