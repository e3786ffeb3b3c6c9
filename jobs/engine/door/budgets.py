"""Budgets: hold the jobs that spend a budget that is used up, and release them when it no longer is.

The fold adds what attempts have used to the book of their tenant, and notes which budgets are used up. From then on no
job that spends one starts. Those in line are held, as those of a paused job type (ADR 0009): so they block no others.
"""

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry

BATCH = 1000  # rows locked at a time


def hold_or_release() -> bool:
    """Hold and release for a dispatch, which must not fail because of them; return whether any job was released."""
    try:
        while len(store.hold_spent(BATCH)) == BATCH:
            pass
        return bool(store.release())
    except (DatabaseError, InterfaceError) as error:
        # Those in line are put off at their start; those that may start, the clock releases.
        telemetry.noticed("budgets not looked at", error=type(error).__name__)
        return False


def settle_budgets() -> None:
    """The clock's duty: note which budgets are used up, since a month may have begun."""
    if store.settle_budgets():
        hold_or_release()
