"""Repairs: counts of what the clock had to repair. In a healthy system they do not grow."""

from jobs import store
from jobs.models import Repair

ORPHAN = "orphan_taken_back"  # its worker was gone
UNHELD = "unheld_taken_back"  # its process did not run it: PostgreSQL had lost its end, by a failover or a restore
MESSAGE = "message_sent_again"  # the broker lost it, or its sender died
STRAY = "held_job_released"  # a job submitted while its type was being resumed
LANE = "lane_found"  # a waiting job stood in a lane that no dispatch looked at
BOOK = "book_corrected"  # what was in use by the books was not what the jobs hold
FINDING = "finding"  # an invariant violation; the log names it


def count(kind: str, number: int = 1) -> None:
    if number:
        store.count_repairs(kind, number)


def counts() -> dict[str, int]:
    """All repairs ever, by kind."""
    return dict(Repair.objects.order_by("kind").values_list("kind", "count"))
