"""The sessions that others have at the database."""

from django.db import connection

OTHERS = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def others() -> int:
    """All sessions at this database but that of the caller."""
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        return int(cursor.fetchone()[0])
