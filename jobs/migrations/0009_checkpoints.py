"""Checkpoints: the cursor of a job, and how often it has handed its slot back."""

from django.db import migrations, models

from jobs.migrations._all_jobs import with_columns
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0008_holds'),
    ]

    operations = with_columns(
        before=['own_until', 'sequence', 'sequence_stops'],
        added=['cursor', 'handed_back', 'handed_back_why'],
        operations=[
            migrations.AddField(model, name, field)
            for model in ('archivedjob', 'job')
            for name, field in (
                ('cursor', models.JSONField(null=True)),
                ('handed_back', models.IntegerField(db_default=0, default=0)),
                ('handed_back_why', models.CharField(blank=True, db_default='', default='', max_length=20)),
            )
        ],
    )
