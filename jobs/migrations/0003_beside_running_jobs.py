"""What takes long in a database with many jobs: a transaction for each step, beside running jobs."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from plumbing.error_shapes import key_of, shape
from jobs.migrations._operations import AddIndexBeside
from plumbing.names import named

A_BATCH = 1_000


def note_shapes(apps, schema_editor):
    """The dead jobs that there are get the shape of their error."""
    jobs = apps.get_model(named('jobs'), 'Job').objects.using(schema_editor.connection.alias)
    dead = jobs.filter(died_at__isnull=False, error_key=None).only('last_error').order_by('died_at')
    while batch := list(dead[:A_BATCH]):
        for job in batch:
            job.error_key = key_of(shape(job.last_error))
        jobs.bulk_update(batch, ['error_key'])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [(named('jobs'), '0002_since_0_1_0')]
    replaces = [(named('jobs'), '0014_validate_one_check')]

    operations = [
        migrations.RunPython(note_shapes, migrations.RunPython.noop),
        AddIndexBeside('job', models.Index(condition=models.Q(('died_at__isnull', False)), fields=['error_key', 'source_type', 'source_method', 'died_at', 'tenant'], name='jobs_dead_groups')),
        AddIndexBeside('job', models.Index(condition=models.Q(('expires_at__isnull', False), models.Q(('due_at__isnull', False), ('ready_at__isnull', False), ('blocked_at__isnull', False), _connector='OR')), fields=['expires_at'], name='jobs_expiring')),
        AddIndexBeside('job', models.Index(condition=models.Q(('blocked_at__isnull', False)), fields=['tenant', 'id'], name='jobs_blocked_of_tenant')),
        AddIndexBeside('job', models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='jobs_of_batch')),
        AddIndexBeside('job', models.Index(condition=models.Q(('batch_id__isnull', False), ('end_time__isnull', True)), fields=['batch_id', 'id'], name='jobs_open_of_batch')),
        migrations.RunSQL('DROP INDEX IF EXISTS job_history_of_batch', migrations.RunSQL.noop),  # of an interrupted one
        # Of a partitioned table none can be made so; only the archiving of ended jobs waits for it.
        migrations.AddIndex('archivedjob', models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='job_history_of_batch')),
        ValidateConstraint('job', 'jobs_whole'),
    ]
