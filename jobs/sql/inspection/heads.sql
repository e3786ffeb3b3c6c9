-- Reads:  the first jobs of lanes, at most so many, longest wait first; and whether a dispatch will visit the lane, because
--         it is in the circle or a row for the next fold names it, or a job holds it. Who: the inspection, to find jobs that wait although
--         nothing blocks them, and to bring lost lanes back. Locks: none. Index: jobs_claim, by a loose scan.
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
SELECT
    head.id,
    (
        coalesce(lane.state, 'empty') = 'empty' OR lane.head > job_place(head.priority, head.id)
        OR (lane.state = 'ready' AND (lane.position <= turn.head OR turn.state <> 'ready' OR turn.version < door.floor))
        OR (lane.state = 'held' AND NOT EXISTS (
            SELECT FROM holds h WHERE h.queue_id = walk.queue_id AND h.tenant_id = walk.tenant_id
        ))
        OR (turn.opened_at = '9999-12-31 00:00+00' AND NOT EXISTS (
            SELECT FROM holds h WHERE h.queue_id = walk.queue_id AND h.tenant_id = 0
        ))
    ) AND NOT EXISTS (
        SELECT FROM arrivals a WHERE a.queue_id = walk.queue_id AND a.tenant_id = walk.tenant_id
    ) AS lost
FROM walk
CROSS JOIN LATERAL (
    SELECT j.id, j.priority, j.ready_at FROM jobs j
    WHERE j.ready_at IS NOT NULL AND j.queue_id = walk.queue_id AND j.tenant_id = walk.tenant_id
    ORDER BY j.priority, j.id LIMIT 1
) head
LEFT JOIN LATERAL (
    SELECT state, head, position FROM lanes l
    WHERE l.tenant_id = walk.tenant_id AND l.queue_id = walk.queue_id
    ORDER BY version DESC LIMIT 1
) lane ON true
LEFT JOIN LATERAL (
    SELECT version, state, head, opened_at FROM queue_turns t WHERE t.queue_id = walk.queue_id ORDER BY version DESC LIMIT 1
) turn ON true
LEFT JOIN LATERAL (SELECT floor FROM door ORDER BY version DESC LIMIT 1) door ON true
WHERE head.ready_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(bound)s * interval '1 second'  -- guard
ORDER BY head.ready_at
LIMIT %(most)s
