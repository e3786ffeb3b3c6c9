"""The dead rows that somebody left: one for each update and each delete, of all tables."""

from django.db import connection

from benchmarks import sessions
from tests.waiting import wait_until

WRITTEN = "SELECT sum(n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables"


def count() -> int:
    """All since the tables were made. Waits until no other session is left, so that all have told."""
    # A session tells the statistics what it did now and then, and when it ends.
    wait_until(lambda: sessions.others() == 0, "all other sessions end")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(WRITTEN)
        return cursor.fetchone()[0]
