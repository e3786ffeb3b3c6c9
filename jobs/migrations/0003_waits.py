"""A wait has two parts: for the tenant's own limits, then for a process."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from jobs.migrations._all_jobs import with_columns
from plumbing.names import named


def moment(model, name):
    return migrations.AddField(model, name, models.DateTimeField(null=True))


def process_wait(model, count):
    buckets = ArrayField(base_field=count, db_default=[0] * 41, size=None)
    return [
        migrations.AddField(model, 'process_wait_seconds', models.FloatField(db_default=0)),
        migrations.AddField(model, 'process_wait_buckets', buckets),
    ]


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0002_light_pools'),
    ]

    operations = [
        moment('lane', 'opened_at'),
        moment('attempt', 'own_until'),
        *process_wait('jobminute', models.IntegerField()),
        *process_wait('tenanthour', models.IntegerField()),
        *process_wait('total', models.BigIntegerField()),
        *with_columns(
            before=[],
            added=['own_until'],
            operations=[moment('job', 'own_until'), moment('archivedjob', 'own_until')],
        ),
    ]
