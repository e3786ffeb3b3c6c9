-- Arrow:  stop, running -> cancelled: the code has stopped, as it was asked to; or it failed, and would have been tried
--         again if it had not been asked: then error_class is given, and the failed attempt is kept.
-- Who:    its holder, or the parent process that ended it at its hard time limit; fenced.
-- Locks:  the row. Index: primary key.
WITH stopped AS (
    UPDATE jobs
    SET status = 'cancelled',
        slot = NULL,
        end_time = coalesce(%(now)s::timestamptz, clock_timestamp()),
        stats = coalesce(%(stats)s, stats),
        last_error = coalesce(%(error_class)s::text || ': ' || %(error)s::text, last_error)
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
      AND cancel_requested_at IS NOT NULL  -- guard
    RETURNING id, attempt, worker, queued_at, start_time, end_time
),
kept AS (
    INSERT INTO failed_attempts
        (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT id, attempt, %(error_class)s, %(error)s, %(traceback)s, worker, queued_at, start_time, end_time
    FROM stopped
    WHERE %(error_class)s::text IS NOT NULL
)
SELECT id, attempt FROM stopped
