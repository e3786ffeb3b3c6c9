from django.db import migrations, models

from tenants.names import named, with_our_names

# The columns of the view until now; the new one comes last, so that it can be replaced.
COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory
"""
VIEW = """
CREATE OR REPLACE VIEW all_jobs AS
SELECT {columns} FROM jobs UNION ALL SELECT {columns} FROM job_history
"""
NEW_VIEW = VIEW.format(columns=f"{COLUMNS}, trace_parent")
FORMER_VIEW = f"DROP VIEW all_jobs; {VIEW.format(columns=COLUMNS)}"


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0012_help_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='archivedjob',
            name='trace_parent',
            field=models.CharField(max_length=55, null=True),
        ),
        migrations.AddField(
            model_name='job',
            name='trace_parent',
            field=models.CharField(max_length=55, null=True),
        ),
        migrations.RunSQL(with_our_names(NEW_VIEW), with_our_names(FORMER_VIEW)),
    ]
