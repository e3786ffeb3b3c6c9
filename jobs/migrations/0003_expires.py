"""Jobs that expire, and why a job was cancelled."""

from django.db import migrations, models

from tenants.conf import TENANT_MODEL
from tenants.names import named, with_our_names

COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent
"""


def view(columns):
    return with_our_names(f"""
DROP VIEW all_jobs;
CREATE VIEW all_jobs AS
SELECT {columns} FROM jobs
UNION ALL
SELECT {columns} FROM job_history;
""")


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(TENANT_MODEL),
        (named('jobs'), '0002_error_key'),
    ]

    operations = [
        migrations.AddField('job', 'expires_at', models.DateTimeField(null=True)),
        migrations.AddField('job', 'reason', models.CharField(max_length=200, null=True)),
        migrations.AddField('archivedjob', 'expires_at', models.DateTimeField(null=True)),
        migrations.AddField('archivedjob', 'reason', models.CharField(max_length=200, null=True)),
        migrations.AddIndex(
            'job',
            models.Index(
                condition=models.Q(('expires_at__isnull', False), models.Q(('due_at__isnull', False), ('ready_at__isnull', False), _connector='OR')),
                fields=['expires_at'],
                name='jobs_expiring',
            ),
        ),
        migrations.RunSQL(view(COLUMNS + ', expires_at, reason'), view(COLUMNS)),
    ]
