"""The dead rows that somebody left: one for each update and each delete, of all tables."""

from django.db import connection

from tests.waiting import wait_until

WRITTEN = "SELECT sum(n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables"
# A session tells the statistics what it did now and then, and when it ends.
OTHERS = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def count() -> int:
    """All since the tables were made. Waits until no other session is left, so that all have told."""
    with connection.cursor() as cursor:

        def alone() -> bool:
            cursor.execute(OTHERS)
            return cursor.fetchone() == (0,)

        wait_until(alone, "all other sessions end")
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(WRITTEN)
        return cursor.fetchone()[0]
