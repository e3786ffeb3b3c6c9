"""Operations of several migrations."""

from django.db import migrations

# For a transaction that locks a table in use. While it waits for a long one (pg_dump, an open psql), all who come later wait
# behind it: no job would start or end. So it soon gives up, and has changed nothing.
BRIEFLY = "SET LOCAL lock_timeout = '3s'"
WAIT_BRIEFLY = migrations.RunSQL(BRIEFLY, migrations.RunSQL.noop)
