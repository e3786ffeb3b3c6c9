-- Arrow:  expire: delete old dead jobs and their failed attempts. Who: the clock.
-- Locks:  the rows; it skips jobs that are being revived. Index: jobs_dead; failed_attempts_once.
WITH expired AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE died_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(ttl)s * interval '1 second'  -- guard
    ORDER BY died_at
    LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
),
attempts AS (
    DELETE FROM failed_attempts WHERE job_id IN (SELECT id FROM expired)
)
DELETE FROM jobs WHERE id IN (SELECT id FROM expired)
RETURNING id, attempt, tenant_id
