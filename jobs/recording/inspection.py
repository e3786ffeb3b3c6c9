"""Inspect: look for invariant violations in live data. A finding means a bug, or a process that is not running.

Three violations need a second look a moment later. A level over its limit may be draining; it is a finding if a job was
claimed for it since the first look. A job that nothing blocks may be about to start; it is a finding if it still waits.
A lane that no dispatch visits is a finding, and is repaired, if both looks see it.
"""

from dataclasses import dataclass

from jobs import store, telemetry
from jobs.allocation.gates import Gate
from jobs.engine.door import repairs
from jobs.engine.door.repairs import recount_books
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from jobs.store.inspection import Excess, WrongBook

BOUND = 30.0  # seconds that the clock and the workers may be late
LANES = 200  # the most lanes whose first job is looked at


@dataclass(frozen=True)
class Finding:
    """A violation of an invariant.

    what: a stable code
    subject: the job, level or book concerned
    detail: a sentence for people
    """

    what: str
    subject: str
    detail: str


@dataclass(frozen=True)
class InspectionLook:
    """The suspects of one look, for the next look to judge.

    excesses: the levels over their limits, by level and name
    next_in_line: the waiting jobs that nothing blocks
    lost: the waiting jobs at whose lanes no dispatch looks
    """

    excesses: dict[tuple[str, str], Excess]
    next_in_line: frozenset[int]
    lost: frozenset[int]


def look() -> InspectionLook:
    """Collect suspects that only a second look can judge."""
    excesses = {(excess.level, excess.name): excess for excess in store.excesses()}
    heads = store.heads(BOUND, LANES)
    next_in_line = frozenset(job_id for job_id, _ in heads if _nothing_holds(job_id))
    return InspectionLook(excesses, next_in_line, frozenset(job_id for job_id, is_lost in heads if is_lost))


def findings(before: InspectionLook, after: InspectionLook) -> list[Finding]:
    """Return the violations: those that both looks saw, and those that one look proves."""
    return [
        *[Finding(what, f"job {job}", detail) for what, job, detail in store.odd_states(BOUND)],
        *[
            Finding("book_wrong", f"{book.book}, tenant {book.tenant_id}, queue {book.queue_id}", _difference(book))
            for book in store.wrong_books()
        ],
        *_over_limits(before, after),
        *[
            Finding("waits_for_nothing", f"job {job}", "every gate is open, but no dispatch has claimed it")
            for job in sorted(before.next_in_line & after.next_in_line)
        ],
        *[
            Finding("lane_lost", f"job {job}", "no dispatch looks at its lane")
            for job in sorted(before.lost & after.lost)
        ],
    ]


class Inspection:
    """The clock's duty: look again and again; each look judges the suspects of the previous one."""

    def __init__(self) -> None:
        self._before: InspectionLook | None = None

    def run(self) -> None:
        """Look; log and count the violations; repair wrong books and lost lanes. The first look only finds suspects."""
        after = look()
        if self._before is not None:
            violations = findings(self._before, after)
            for finding in violations:
                telemetry.noticed(finding.what, subject=finding.subject, detail=finding.detail)
            repairs.count(repairs.FINDING, len(violations))
            repairs.count(repairs.LANE, store.find_lane(self._before.lost & after.lost))
            if any(finding.what == "book_wrong" for finding in violations):
                recount_books()
        self._before = after


def _difference(book: WrongBook) -> str:
    counted = "there is no book" if book.said is None else f"the book counts {book.said} slots in use"
    return f"{counted}; the jobs hold {book.in_use}"


def _over_limits(before: InspectionLook, after: InspectionLook) -> list[Finding]:
    return [
        Finding(
            "over_limit", f"{excess.level} {excess.name}", f"holds {excess.in_use} slots; the limit is {excess.limit}"
        )
        for key, excess in after.excesses.items()
        if key in before.excesses
        and before.excesses[key].limit == excess.limit
        and excess.newest > before.excesses[key].newest
    ]


def _nothing_holds(job_id: int) -> bool:
    explanation = explain(job_id, tenant_id=EVERY_TENANT)
    return explanation is not None and explanation.gate is Gate.NEXT
