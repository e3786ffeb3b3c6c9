"""Sequences: a tenant's jobs of one name that run one at a time. What Django cannot make is in `sequences/`."""

from pathlib import Path

from django.db import migrations, models

from plumbing.names import named, with_our_names


def run(name):
    """Run the statements of that file, with the names of this project's tables."""
    statements = (Path(__file__).parent / 'sequences' / f'{name}.sql').read_text()
    return migrations.RunSQL(with_our_names(statements), migrations.RunSQL.noop)


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0002_light_pools'),
    ]

    operations = [
        migrations.AddField(
            model_name='archivedjob',
            name='sequence',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='archivedjob',
            name='sequence_stops',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='job',
            name='sequence',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='job',
            name='sequence_stops',
            field=models.BooleanField(db_default=False, default=False),
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
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('blocked_at__isnull', False), ('sequence__isnull', False)), fields=['tenant', 'sequence', 'id'], name='jobs_waiting_in_sequence'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('blocked_at__isnull', True), ('sequence__isnull', False), models.Q(('end_time__isnull', True), models.Q(('died_at__isnull', False), ('sequence_stops', True)), _connector='OR')), fields=('tenant', 'sequence'), name='jobs_one_of_sequence'),
        ),
        run('news'),
        run('history'),
    ]
