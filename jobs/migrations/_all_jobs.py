"""The view `all_jobs` in migrations: PostgreSQL inserts no column into a view, so it is dropped and made anew."""

from django.db import migrations

from plumbing.names import with_our_names

FIRST = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason, batch_id
"""
DROP = with_our_names('DROP VIEW all_jobs')


def with_columns(*, before, added, operations):
    """Return the operations that add columns to the tables of the view, and then to the view.

    before: the columns that it has after FIRST
    """
    return [migrations.RunSQL(DROP, _made(before)), *operations, migrations.RunSQL(_made([*before, *added]), DROP)]


def _made(more):
    columns = ', '.join([FIRST, *more])
    return with_our_names(f'CREATE VIEW all_jobs AS SELECT {columns} FROM jobs UNION ALL SELECT {columns} FROM job_history')
