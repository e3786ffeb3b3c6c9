-- Django can make no partitioned table. Until the clock has made a partition, rows go to the default one.

-- The history of ended jobs; the clock makes a partition for each month.
CREATE TABLE job_history (
    LIKE jobs,
    failed_attempts jsonb NOT NULL,
    PRIMARY KEY (id, end_time),
    CONSTRAINT job_history_ended CHECK (status IN ('success', 'error', 'cancelled'))
) PARTITION BY RANGE (end_time);

-- What only jobs have that have not ended, or are dead.
ALTER TABLE job_history
DROP COLUMN blocked_at,
DROP COLUMN announced,
DROP COLUMN awaited,
DROP COLUMN behind,
DROP COLUMN replaced_by,
DROP COLUMN followed,
DROP COLUMN error_key;

CREATE TABLE job_history_rest PARTITION OF job_history DEFAULT;
CREATE INDEX job_history_of_tenant ON job_history (tenant_id, id DESC);
CREATE INDEX job_history_by_end ON job_history (tenant_id, end_time);
CREATE INDEX job_history_of_batch ON job_history (batch_id, id DESC) WHERE batch_id IS NOT NULL;

-- All jobs, and all that failed of them, wherever they are.
CREATE VIEW all_jobs AS
SELECT
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason, batch_id
FROM jobs
UNION ALL
SELECT
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason, batch_id
FROM job_history;

CREATE VIEW all_failed_attempts AS
SELECT job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time FROM failed_attempts
UNION ALL
SELECT h.id, a.* FROM job_history h CROSS JOIN jsonb_to_recordset(h.failed_attempts) AS a (
    attempt int, error_class varchar, error text, traceback text, worker uuid,
    queued_at timestamptz, start_time timestamptz, end_time timestamptz
);
