-- Keep the failed attempts in `ended` (id, attempt, worker, queued_at, start_time, ended_at).
, kept AS (
    INSERT INTO failed_attempts
        (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT id, attempt, %(error_class)s, %(error)s, %(traceback)s, worker, queued_at, start_time, ended_at
    FROM ended
    WHERE %(error_class)s::text IS NOT NULL
)
