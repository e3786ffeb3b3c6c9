-- Arrow:  archive, success / error / cancelled -> the history, with the failed attempts. Dead jobs stay: they are the
--         dead-letter queue, and expire.
-- Who:    the clock's upkeep, a batch in a transaction; a job is always in exactly one of the two tables.
-- Locks:  the rows; it skips locked ones, for example of jobs that are being revived, until a later pass.
-- Index:  jobs_ended, from `since`; failed_attempts_once. `until` is the end of a partition.
WITH
-- include shared/clock
due AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE end_time >= %(since)s::timestamptz
      AND end_time < least(%(until)s::timestamptz, (SELECT now FROM clock) - %(after)s * interval '1 second')  -- guard
      AND died_at IS NULL  -- guard
    ORDER BY end_time
    LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
),
attempts AS (
    DELETE FROM failed_attempts WHERE job_id IN (SELECT id FROM due)
    RETURNING job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time
),
ended AS (
    DELETE FROM jobs WHERE id IN (SELECT id FROM due)
    RETURNING
    -- include shared/job_columns
    , predecessors
)
INSERT INTO job_history (
-- include shared/job_columns
, predecessors, failed_attempts)
SELECT
-- include shared/job_columns
, predecessors, coalesce(
    (SELECT jsonb_agg(to_jsonb(a) - 'job_id' ORDER BY a.attempt) FROM attempts a WHERE a.job_id = ended.id), '[]'
)
FROM ended
RETURNING id, attempt, tenant_id
