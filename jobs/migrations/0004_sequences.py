"""Sequences: a tenant's jobs of one name run one at a time. The triggers are in `sequences/`."""

from pathlib import Path

from django.db import migrations, models

from plumbing.names import named, with_our_names


COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason, batch_id,
    own_until
"""


def all_jobs(columns):
    return with_our_names(f'CREATE VIEW all_jobs AS SELECT {columns} FROM jobs UNION ALL SELECT {columns} FROM job_history')


def statements(name):
    """Return the statements of that file, with the names of this project's tables."""
    return with_our_names((Path(__file__).parent / 'sequences' / f'{name}.sql').read_text())


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0003_waits'),
    ]

    operations = [
        migrations.RunSQL(with_our_names('DROP VIEW all_jobs'), all_jobs(COLUMNS)),
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
        migrations.RunSQL(all_jobs(f'{COLUMNS}, sequence, sequence_stops'), with_our_names('DROP VIEW all_jobs')),
    ]
