"""The budgets of tenants in the present month (UTC), and what was used of them: for pages, API and commands."""

from collections.abc import Collection

from jobs.reading.health.looks import BudgetLook
from jobs.store.rows import objects


def standings(tenants: Collection[int] | None = None) -> list[BudgetLook]:
    """Return the budgets of these tenants, or of all, by the slug of the tenant and the unit."""
    return objects(BudgetLook, "budgets", tenants=None if tenants is None else list(tenants))
