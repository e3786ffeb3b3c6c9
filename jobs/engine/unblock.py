"""Unblock: jobs that waited for others become ready, or are cancelled because one of those did not end well.

Whatever ends a job that others wait for leaves news of it (`job_ends`), and so does a submit that stores a follower.
The next dispatch sees the news, and reads it before its next pass. One reads at a time; a dispatch that finds a reader
goes home, since the reader looks again when it is done. The clock makes up for a reader that died.
"""

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry

MOST_TURNS = 200  # of one reader; the clock goes on


def unblock() -> bool:
    """Move on the jobs that waited for what has ended; return whether there are any."""
    moved = 0
    for _ in range(MOST_TURNS):
        turn = store.read_ends()
        moved += len(turn.moved)
        if not turn.mine or not store.is_news(turn.noted):
            break
    return moved > 0


def unblock_if_news() -> None:
    """The clock's net: a reader may have died."""
    if store.is_news():
        unblock()


def unblock_safely() -> bool:
    """The same for a dispatch, which must not fail because of followers."""
    try:
        return unblock()
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("followers not looked at", error=type(error).__name__)  # the clock makes up for it
        return False
