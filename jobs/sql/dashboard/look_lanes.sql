-- Reads:  lanes with waiting jobs, at most `most`: how many wait, and since when the first in line has. Up to `exact` jobs
--         of a lane are counted; beyond, the lane's own number tells about how many (it includes jobs that are due later).
-- Who:    the operators' pages. Locks: none.
-- Index:  jobs_claim, by a loose scan; the primary key of lanes. So it costs the same with a thousand and a million waiting.
WITH RECURSIVE walk AS (
    (SELECT queue_id, tenant_id, 1 AS n FROM jobs WHERE ready_at IS NOT NULL ORDER BY queue_id, tenant_id LIMIT 1)
    UNION ALL
    SELECT next.queue_id, next.tenant_id, walk.n + 1
    FROM walk CROSS JOIN LATERAL (
        SELECT j.queue_id, j.tenant_id FROM jobs j
        WHERE j.ready_at IS NOT NULL AND (j.queue_id, j.tenant_id) > (walk.queue_id, walk.tenant_id)
        ORDER BY j.queue_id, j.tenant_id LIMIT 1
    ) next
    WHERE walk.n < %(most)s
)
SELECT
    walk.tenant_id, walk.queue_id,
    CASE WHEN few.n > %(exact)s THEN greatest(few.n, noted.waiting) ELSE few.n END AS waiting,
    few.n > %(exact)s AS about,
    head.ready_at AS first_since
FROM walk
CROSS JOIN LATERAL (
    SELECT count(*)::int AS n FROM (
        SELECT FROM jobs j
        WHERE j.ready_at IS NOT NULL AND j.queue_id = walk.queue_id AND j.tenant_id = walk.tenant_id
        ORDER BY j.priority, j.id LIMIT %(exact)s + 1
    ) first
) few
CROSS JOIN LATERAL (
    SELECT j.ready_at FROM jobs j
    WHERE j.ready_at IS NOT NULL AND j.queue_id = walk.queue_id AND j.tenant_id = walk.tenant_id
    ORDER BY j.priority, j.id LIMIT 1
) head
LEFT JOIN LATERAL (
    SELECT l.waiting FROM lanes l
    WHERE l.tenant_id = walk.tenant_id AND l.queue_id = walk.queue_id
    ORDER BY l.version DESC LIMIT 1
) noted ON true
