-- Reads:  the first job of each lane, at most so many, the longest waits first. Who: check, to see whether a job waits
--         that nothing holds. Locks: none. Index: jobs_claim, by a loose scan as in claim.sql.
WITH RECURSIVE walk AS (
    (SELECT queue_id, tenant_id FROM jobs WHERE ready_at IS NOT NULL ORDER BY queue_id, tenant_id LIMIT 1)
    UNION ALL
    SELECT next.queue_id, next.tenant_id
    FROM walk CROSS JOIN LATERAL (
        SELECT j.queue_id, j.tenant_id FROM jobs j
        WHERE j.ready_at IS NOT NULL AND (j.queue_id, j.tenant_id) > (walk.queue_id, walk.tenant_id)
        ORDER BY j.queue_id, j.tenant_id LIMIT 1
    ) next
)
SELECT head.id
FROM walk CROSS JOIN LATERAL (
    SELECT j.id, j.ready_at FROM jobs j
    WHERE j.ready_at IS NOT NULL AND j.queue_id = walk.queue_id AND j.tenant_id = walk.tenant_id
    ORDER BY j.priority, j.id LIMIT 1
) head
WHERE head.ready_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(bound)s * interval '1 second'  -- guard
ORDER BY head.ready_at
LIMIT %(most)s
