-- Arrow:  retry, running -> scheduled, due after its backoff; the failed attempt is kept.
-- Who:    its holder, or the parent process that ended it at its hard time limit; fenced. Not when it is to be cancelled.
-- Locks:  the row. Index: primary key.
WITH failed AS (
    UPDATE jobs
    SET status = 'scheduled',
        due_at = clock.now + %(delay)s * interval '1 second',
        slot = NULL,
        retries = retries + 1,
        queue_id = coalesce((SELECT q.id FROM queues q WHERE q.name = %(queue)s), queue_id),
        stats = coalesce(%(stats)s, stats),
        last_error = %(error_class)s || ': ' || %(error)s
    FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
      AND cancel_requested_at IS NULL  -- guard
    RETURNING id, attempt, worker, queued_at, start_time, clock.now AS ended
),
kept AS (
    INSERT INTO failed_attempts
        (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT id, attempt, %(error_class)s, %(error)s, %(traceback)s, worker, queued_at, start_time, ended
    FROM failed
)
SELECT id, attempt FROM failed
