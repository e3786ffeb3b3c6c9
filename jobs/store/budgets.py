"""Budgets: what tenants may use in a month. The door notes which are used up."""

from jobs.store import clock
from jobs.store.claiming import inside_the_door
from jobs.store.rows import rows


def settle_budgets() -> bool:
    """Note which budgets are used up now, and return whether that was noted wrong: since a month began, for example."""
    if not rows("unsettled_budgets")[0][0]:
        return False
    with inside_the_door():
        rows("settle_budgets", now=clock.moment())
    return True
