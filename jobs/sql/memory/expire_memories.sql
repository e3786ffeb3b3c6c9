-- Change: delete memories that nobody has written for so long. Who: the clock.
-- Locks:  the memories; it skips one that a body is writing. Index: job_memories_old.
DELETE FROM job_memories
WHERE id = ANY(ARRAY(
    SELECT id FROM job_memories
    WHERE touched_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(ttl)s * interval '1 second'  -- guard
    ORDER BY touched_at
    LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
))
RETURNING id
