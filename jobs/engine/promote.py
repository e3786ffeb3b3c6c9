"""Promote: jobs that are due become ready."""

from jobs import store
from jobs.engine import dispatch

BATCH = 1000  # rows locked at a time, so that ten thousand jobs due at once hold nothing up


def promote() -> int:
    """Make every due job ready, in batches, with a dispatch after each; the number promoted.

    One whose type is paused is held instead, and is nothing to dispatch for.
    """
    total = 0
    while due := store.promote(BATCH):
        promoted = sum(not job.held for job in due)
        total += promoted
        if promoted:
            dispatch.dispatch()
        if len(due) < BATCH:
            break
    return total
