-- Arrow:  take_back, running -> created, or -> dead when it has crashed too often (bury); the crash is kept.
-- Who:    recover, for an attempt whose process or worker died; fenced: if it settled meanwhile, nothing happens.
-- Locks:  the row. Index: primary key.
WITH crashed AS (
    UPDATE jobs
    SET status = CASE WHEN crashes + 1 < %(max_crashes)s THEN 'created' ELSE 'dead' END,
        ready_at = CASE WHEN crashes + 1 < %(max_crashes)s THEN clock.now END,
        end_time = CASE WHEN crashes + 1 < %(max_crashes)s THEN NULL ELSE clock.now END,
        slot = NULL,
        crashes = crashes + 1,
        last_error = 'Crashed: ' || %(error)s
    FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
    RETURNING id, attempt, status, worker, queued_at, start_time, clock.now AS ended
),
kept AS (
    INSERT INTO failed_attempts
        (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT id, attempt, 'Crashed', %(error)s, '', worker, queued_at, start_time, ended
    FROM crashed
)
SELECT id, attempt, status FROM crashed
