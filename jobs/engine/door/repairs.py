"""Repairs: the corrections by the clock, and their counts. In a healthy system these do not grow."""

from collections.abc import Mapping

from jobs import store, telemetry
from jobs.models import Repair

ORPHAN = "orphan_taken_back"  # its worker was gone
UNHELD = "unheld_taken_back"  # its process did not run it: PostgreSQL had lost its end, by a failover or a restore
MESSAGE = "message_sent_again"  # the broker lost it, or its sender died
STRAY = "held_job_released"  # a job submitted while its type was being resumed
LANE = "lane_found"  # a waiting job stood in a lane that no dispatch looked at
BOOK = "book_corrected"  # the books had other slots in use than the jobs hold
FINDING = "finding"  # an invariant violation; the log names it
WORDS: Mapping[str, str] = {
    ORPHAN: "jobs of lost workers taken back",
    UNHELD: "jobs that no process ran taken back",
    MESSAGE: "messages sent again",
    STRAY: "held jobs released",
    LANE: "lost lanes found",
    BOOK: "wrong books corrected",
    FINDING: "violations of invariants found; the log names them",
}


def in_words(kind: str) -> str:
    """Return what was repaired, for people; a kind of another release as it is."""
    return WORDS.get(kind, kind)


def count(kind: str, number: int = 1) -> None:
    if number:
        store.count_repairs(kind, number)


def counts() -> dict[str, int]:
    """Return the number of all repairs so far, by kind."""
    return dict(Repair.objects.order_by("kind").values_list("kind", "count"))


def recount_waiting(*, all_tenants: bool = False) -> int:
    """Correct the counts of waiting jobs of tenants near their backlog limit, or of all; return how many were wrong."""
    differences = store.recount_waiting(all_tenants=all_tenants)
    for queue_id, tenant_id, jobs in differences:
        telemetry.noticed("backlog was counted wrong", queue=queue_id, tenant=tenant_id, jobs=f"{jobs:+d}")
    return len(differences)


def recount_all() -> None:
    """Correct the count of every lane.

    A crash or an earlier release may have left it wrong, and samples show it, however few jobs wait.
    """
    recount_waiting(all_tenants=True)


def recount_books() -> int:
    """Correct the books; return how many were wrong: 0, except beside workers of an older release."""
    wrong = store.recount_books()
    for book in wrong:
        telemetry.noticed("book was wrong", **vars(book))
    count(BOOK, len(wrong))
    return len(wrong)
