-- Arrow:  fail, running -> error, or bury, running -> dead; the failed attempt is kept.
-- Who:    its holder, or the parent process that ended it at its hard time limit; fenced.
-- Locks:  the row. Index: primary key.
WITH failed AS (
    UPDATE jobs
    SET status = CASE WHEN %(dead)s THEN 'dead' ELSE 'error' END,
        died_at = CASE WHEN %(dead)s THEN clock.now END,
        slot = NULL,
        end_time = clock.now,
        stats = coalesce(%(stats)s, stats),
        last_error = %(error_class)s || ': ' || %(error)s
    FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
    RETURNING id, attempt, worker, queued_at, start_time, end_time
),
kept AS (
    INSERT INTO failed_attempts
        (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT id, attempt, %(error_class)s, %(error)s, %(traceback)s, worker, queued_at, start_time, end_time
    FROM failed
)
SELECT id, attempt FROM failed
