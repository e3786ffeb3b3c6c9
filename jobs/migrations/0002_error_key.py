"""Dead jobs are grouped by the shape of their error; those that there are get theirs."""

from django.db import migrations, models

from jobs.authoring.shapes import key_of, shape
from tenants.names import named

A_BATCH = 1_000


def note_shapes(apps, schema_editor):
    jobs = apps.get_model(named('jobs'), 'Job').objects.using(schema_editor.connection.alias)
    dead = jobs.filter(died_at__isnull=False, error_key=None).only('last_error').order_by('died_at')
    while batch := list(dead[:A_BATCH]):
        for job in batch:
            job.error_key = key_of(shape(job.last_error))
        jobs.bulk_update(batch, ['error_key'])


class Migration(migrations.Migration):
    dependencies = [(named('jobs'), '0001_initial')]

    operations = [
        migrations.AddField('job', 'error_key', models.BigIntegerField(null=True)),
        migrations.RunPython(note_shapes, migrations.RunPython.noop),
        migrations.AddIndex(
            'job',
            models.Index(
                condition=models.Q(('died_at__isnull', False)),
                fields=['error_key', 'source_type', 'source_method', 'died_at', 'tenant'],
                name='jobs_dead_groups',
            ),
        ),
    ]
