"""Expire: delete dead jobs after JOBS_DEAD_TTL seconds, and memories that were not written for JOBS_MEMORY_TTL."""

from jobs import store
from jobs.conf import settings


def expire_dead() -> int:
    """Delete them in batches; return their number."""
    total = 0
    while expired := store.expire_dead(settings.JOBS_DEAD_TTL):
        total += len(expired)
    return total


def expire_memories() -> int:
    """Delete them in batches; return their number."""
    total = 0
    while expired := store.expire_memories(settings.JOBS_MEMORY_TTL):
        total += expired
    return total
