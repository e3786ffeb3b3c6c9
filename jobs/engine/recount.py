"""Recount: correct the lanes' counts of waiting jobs, and the books of what is in use."""

from jobs import store, telemetry
from jobs.engine import repairs


def recount_waiting(*, all_tenants: bool = False) -> int:
    """Correct the lanes of tenants near their backlog limit, or of all; return the number of wrong counts."""
    differences = store.recount_waiting(all_tenants=all_tenants)
    for queue_id, tenant_id, jobs in differences:
        telemetry.noticed("backlog was counted wrong", queue=queue_id, tenant=tenant_id, jobs=f"{jobs:+d}")
    return len(differences)


def recount_all() -> None:
    """Correct every lane: what a crash or an earlier release has left wrong shows in samples, however few jobs wait."""
    recount_waiting(all_tenants=True)


def recount_books() -> int:
    """Correct the books; return the number of wrong ones: 0, except beside workers of an older release."""
    wrong = store.recount_books()
    for book in wrong:
        telemetry.noticed("book was wrong", **vars(book))
    repairs.count(repairs.BOOK, len(wrong))
    return len(wrong)
