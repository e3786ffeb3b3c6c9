"""A wait has two parts: for the tenant's own limits, then for a process."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from plumbing.names import named, with_our_names

COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason, batch_id
"""


def moment(model, name):
    return migrations.AddField(model, name, models.DateTimeField(null=True))


def process_wait(model, count):
    buckets = ArrayField(base_field=count, db_default=[0] * 41, size=None)
    return [
        migrations.AddField(model, 'process_wait_seconds', models.FloatField(db_default=0)),
        migrations.AddField(model, 'process_wait_buckets', buckets),
    ]


def all_jobs(columns):
    return with_our_names(f'CREATE VIEW all_jobs AS SELECT {columns} FROM jobs UNION ALL SELECT {columns} FROM job_history')


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0002_light_pools'),
    ]

    operations = [
        moment('lane', 'opened_at'),
        moment('job', 'own_until'),
        moment('archivedjob', 'own_until'),
        moment('attempt', 'own_until'),
        *process_wait('jobminute', models.IntegerField()),
        *process_wait('tenanthour', models.IntegerField()),
        *process_wait('total', models.BigIntegerField()),
        migrations.RunSQL(with_our_names('DROP VIEW all_jobs'), all_jobs(COLUMNS)),
        migrations.RunSQL(all_jobs(f'{COLUMNS}, own_until'), with_our_names('DROP VIEW all_jobs')),
    ]
