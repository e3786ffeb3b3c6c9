"""Promote: jobs that are due become ready. Lapse: waiting jobs whose time to start has passed are cancelled."""

from jobs import store
from jobs.engine.door import dispatch

BATCH = 1000  # rows locked at a time, so that ten thousand due jobs do not hold others up


def lapse() -> int:
    """Cancel every waiting job whose time to start has passed, in batches; return their number."""
    total = 0
    while lapsed := store.lapse(BATCH):
        total += len(lapsed)
        dispatch.dispatch()  # a claim may have skipped the locked rows, and found no others behind them
        if len(lapsed) < BATCH:
            break
    return total


def promote() -> int:
    """Make every due job ready, in batches, with a dispatch after each; return the number promoted.

    A job whose type is paused is held instead. One that waits for a running job is due again in a second. Neither needs
    a dispatch.
    """
    total = 0
    while due := store.promote(BATCH):
        promoted = sum(job.ready for job in due)
        total += promoted
        if promoted:
            dispatch.dispatch()
        if len(due) < BATCH:
            break
    return total
