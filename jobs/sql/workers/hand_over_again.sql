-- Change: note that a lost message is sent again. It counts as lost if it waited too long beside an idle process of its pool.
-- Who:    recover. Not an arrow: the attempt stays the same, so that only one of two messages starts it (I3).
-- Locks:  the rows; it skips locked rows until the next look. Index: jobs_one_job_per_slot; handed_at is not indexed (HOT).
-- A pool never gets more messages than it has processes. So while one of its messages is lost, one of its processes is idle
-- or soon will be, however many jobs wait.
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
