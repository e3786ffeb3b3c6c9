import django.db.models.deletion
from django.db import migrations, models

from tenants.conf import TENANT_MODEL
from tenants.names import named

TO_TENANTS = ('job', 'jobmemory', 'keptanswer', 'schedule')


class Migration(migrations.Migration):
    """No statement of the engine waits any more for somebody who has a tenant or a queue locked: docs/adr/0029."""

    dependencies = [
        (named('jobs'), '0016_servers'),
    ]

    operations = [
        # To drop a constraint takes a lock that everybody else waits for, on both tables. So it must not wait long itself.
        # Below deadlock_timeout (1 s): of two who wait for each other, this one gives up. Then migrate again.
        migrations.RunSQL("SET LOCAL lock_timeout = '900ms'", migrations.RunSQL.noop),
        *(
            migrations.AlterField(
                model_name=model,
                name='tenant',
                field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=TENANT_MODEL),
            )
            for model in TO_TENANTS
        ),
        migrations.AlterField(
            model_name='job',
            name='queue',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=named('jobs.queue')),
        ),
    ]
