"""Promote: jobs that are due become ready."""

from jobs import store, telemetry
from jobs.engine import dispatch

BATCH = 1000  # rows locked at a time, so that ten thousand jobs due at once hold nothing up


def promote() -> int:
    """Make every due job ready, in batches, with a dispatch after each; the number promoted."""
    total = 0
    while promoted := store.promote(BATCH):
        total += len(promoted)
        for job in promoted:
            telemetry.applied("promote", job.id, job.attempt)
        dispatch.dispatch()
        if len(promoted) < BATCH:
            break
    return total
