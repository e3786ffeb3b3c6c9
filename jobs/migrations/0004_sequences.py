"""Sequences: a tenant's jobs of one name run one at a time. The triggers are in `sequences/`."""

from pathlib import Path

from django.db import migrations, models

from jobs.migrations._all_jobs import with_columns
from plumbing.names import named, with_our_names


def statements(name):
    """Return the statements of that file, with the names of this project's tables."""
    return with_our_names((Path(__file__).parent / 'sequences' / f'{name}.sql').read_text())


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0003_waits'),
    ]

    operations = [
        *with_columns(
            before=['own_until'],
            added=['sequence', 'sequence_stops'],
            operations=[
                migrations.AddField(model, name, field)
                for model in ('archivedjob', 'job')
                for name, field in (
                    ('sequence', models.CharField(max_length=200, null=True)),
                    ('sequence_stops', models.BooleanField(db_default=False, default=False)),
                )
            ],
        ),
        migrations.AddField(
            model_name='jobend',
            name='sequence',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='jobend',
            name='tenant_id',
            field=models.BigIntegerField(null=True),
        ),
        migrations.RemoveIndex('job', 'jobs_blocked_of_tenant'),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('blocked_at__isnull', False)), fields=['tenant', 'sequence', 'id'], name='jobs_blocked_of_tenant'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('blocked_at__isnull', True), ('sequence__isnull', False), models.Q(('end_time__isnull', True), models.Q(('died_at__isnull', False), ('sequence_stops', True)), _connector='OR')), fields=('tenant', 'sequence'), name='jobs_one_of_sequence'),
        ),
        migrations.RunSQL(statements('news'), statements('undo')),
    ]
