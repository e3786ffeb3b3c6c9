"""A row of the log that found no partition moves or is deleted. Where a publication has all tables, for logical replication
or Debezium, PostgreSQL refuses that of a table without a primary key, unless it may tell the whole row.
"""

from django.db import migrations

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0005_late_by_pool')]

    operations = [
        WAIT_BRIEFLY,
        migrations.RunSQL(
            f'ALTER TABLE {named("attempts_default")} REPLICA IDENTITY FULL',
            f'ALTER TABLE {named("attempts_default")} REPLICA IDENTITY DEFAULT',
        ),
    ]
