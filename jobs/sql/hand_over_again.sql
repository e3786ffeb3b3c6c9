-- Change: a message is lost when it has waited too long although a process of its pool is idle; note the new sending.
-- Who:    recover. Not an arrow: the attempt stays the same, so that of two messages only one starts (I3).
-- Locks:  the rows. Index: jobs_one_job_per_slot; handed_at is not indexed (HOT).
WITH
-- include shared/clock
-- include shared/live_pools
busy AS (
    SELECT q.pool, count(*) AS processes
    FROM jobs j JOIN queues q ON q.id = j.queue_id
    WHERE j.slot IS NOT NULL AND j.status = 'running'
    GROUP BY q.pool
)
UPDATE jobs j
SET handed_at = clock.now
FROM clock, queues q JOIN live_pool pool USING (pool) LEFT JOIN busy USING (pool)
WHERE q.id = j.queue_id
  AND j.slot IS NOT NULL
  AND j.status = 'queued'  -- guard I3
  AND j.handed_at < clock.now - %(patience)s * interval '1 second'  -- guard
  AND pool.processes > coalesce(busy.processes, 0)  -- guard
RETURNING j.id, j.attempt, q.pool, coalesce(j.timeout, q.default_timeout, %(default_timeout)s) AS timeout, j.memory
