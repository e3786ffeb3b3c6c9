"""Unblock: jobs that waited for others become ready, or are cancelled because one of those did not succeed.

Each statement that ends a job for which others wait leaves news of it (`job_ends`), and so does a submit that stores a
follower. The next dispatch sees the news, and reads it before its next pass. One dispatch reads at a time; another one
goes home, since the reader looks again when it is done. The clock makes up for a reader that died.
"""

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry

MOST_TURNS = 200  # of one reader; the clock reads the rest


def unblock() -> bool:
    """Move on the jobs whose predecessors have ended; return whether there were any."""
    moved = 0
    for _ in range(MOST_TURNS):
        turn = store.read_ends()
        moved += len(turn.moved)
        if not turn.mine or not store.is_news(turn.noted):
            break
    return moved > 0


def unblock_if_news() -> None:
    """Unblock if there is news. The clock calls this, since a reader may have died."""
    if store.is_news():
        unblock()


def unblock_safely() -> bool:
    """Unblock for a dispatch, which must not fail because of followers; return whether any job moved on."""
    try:
        return unblock()
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("followers not looked at", error=type(error).__name__)  # the clock makes up for it
        return False
