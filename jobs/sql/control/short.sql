-- name: backlog
-- Reads:  the number of a tenant's waiting jobs, and the limit. Who: a revive by the tenant. Locks: none.
-- Index:  primary key of the lanes; it counts no jobs.
SELECT waiting.jobs, coalesce(limits.max_waiting, %(max_waiting)s::int)
FROM (SELECT %(tenant_id)s::bigint AS tenant_id) asked
LEFT JOIN tenant_queues limits USING (tenant_id)
CROSS JOIN LATERAL (
-- include shared/backlog
) waiting

-- name: create_queue
-- Change: create the queue of this name, unless it exists. Who: every migration, to any schema; so this names only columns
--         that have always existed.
INSERT INTO queues (name, weight, pool, default_backoff, paused)
VALUES (%(name)s, 1, 'default', 10, false)
ON CONFLICT (name) DO NOTHING  -- guard

-- name: discard
-- Arrow:  discard, dead -> cancelled: remove a job from the dead-letter queue without another attempt.
-- Who:    an operator; the tenant cannot revive the job. The next job of a sequence that it has stopped goes on. Locks: the row. Index: primary key.
UPDATE jobs
SET status = 'cancelled', died_at = NULL, barred = true,
    sequence = CASE WHEN dedup_key IS DISTINCT FROM %(erased)s THEN sequence END
WHERE id = %(id)s
  AND status = 'dead'  -- guard
RETURNING id, attempt, tenant_id

-- name: expire_dead
-- Arrow:  expire: delete old dead jobs, their failed attempts and what these logged. Who: the clock.
-- Locks:  the rows; it skips jobs that are being revived. Index: jobs_dead; failed_attempts_once; job_logs_once.
WITH expired AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE died_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(ttl)s * interval '1 second'  -- guard
    ORDER BY died_at
    LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
),
attempts AS (
    DELETE FROM failed_attempts WHERE job_id IN (SELECT id FROM expired)
),
logs AS (
    DELETE FROM job_logs WHERE job_id IN (SELECT id FROM expired)
)
DELETE FROM jobs WHERE id IN (SELECT id FROM expired)
RETURNING id, attempt, tenant_id

-- name: request_cancel
-- Change: ask running jobs to stop. Not an arrow: the holder stops the job, and keeps the slot until then.
-- Who:    its tenant (tenant given), or an operator (null). Locks: the rows, in the order of their ids. Index: primary key.
-- The job gives up its key: an identical request must not get a job that is being stopped.
WITH
-- include shared/briefly
asked AS MATERIALIZED (
    SELECT id FROM jobs j CROSS JOIN briefly
    WHERE id = ANY(%(ids)s::bigint[])
      AND status = 'running'  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
    ORDER BY id
    FOR NO KEY UPDATE OF j
)
UPDATE jobs
SET cancel_requested_at = coalesce(cancel_requested_at, %(now)s::timestamptz, clock_timestamp()),
    dedup_key = NULL,
    barred = barred OR %(tenant_id)s::bigint IS NULL
FROM asked
WHERE jobs.id = asked.id
RETURNING jobs.id, attempt, tenant_id
