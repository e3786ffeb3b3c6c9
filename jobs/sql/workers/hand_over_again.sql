-- Change: a message is lost when it has waited too long although a process of its pool is idle; note the new sending.
-- Who:    recover. Not an arrow: the attempt stays the same, so that of two messages only one starts (I3).
-- Locks:  the rows; one that somebody else has locked is left to the next look. Index: jobs_one_job_per_slot; handed_at is
--         not indexed (HOT).
-- Nothing is handed to a pool above its processes: while one of its messages is lost, one of its processes is idle, or soon
-- will be, however much waits.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/idle_pools
lost AS MATERIALIZED (
    SELECT j.id, q.pool
    FROM jobs j JOIN queues q ON q.id = j.queue_id JOIN idle_pool USING (pool) CROSS JOIN clock
    WHERE j.slot IS NOT NULL
      AND j.status = 'queued'  -- guard I3
      AND j.handed_at < clock.now - %(patience)s * interval '1 second'  -- guard
    FOR NO KEY UPDATE OF j SKIP LOCKED
)
UPDATE jobs j
SET handed_at = clock.now
FROM clock, lost
WHERE j.id = lost.id
RETURNING j.id, j.attempt, lost.pool
