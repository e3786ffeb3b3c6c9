-- Reads:  the lanes with jobs in line, and where their tenants' limits hold these jobs. One row for each lane that is looked
--         at: the `most` with the most jobs, and the `most` whose turn is next; and one row (tenant null) for the others of
--         a queue at a gate. Of a lane that is looked at, up to `exact` jobs are counted; of the others, and beyond, the
--         number that the lane keeps tells about how many. of_full_users: of those that were counted, the jobs of users who
--         have all slots that they may have. tenants: only their lanes; null: all. most: null: each lane is looked at.
-- Who:    health, metrics and the operators' pages, every few seconds. Locks: none.
-- Index:  primary keys of lanes, arrivals and tenant_queues; all of the books; jobs_claim for the lanes that are looked at.
WITH
-- include shared/present
-- include shared/uses
-- include shared/in_line
looked_at AS MATERIALIZED (
    (SELECT tenant_id, queue_id FROM in_line ORDER BY waiting DESC, tenant_id, queue_id LIMIT %(most)s)
    UNION
    (SELECT tenant_id, queue_id FROM in_line ORDER BY position NULLS FIRST, tenant_id, queue_id LIMIT %(most)s)
),
counted AS MATERIALIZED (
    SELECT l.tenant_id, l.queue_id, ready.*
    FROM looked_at l
    LEFT JOIN tenant_queues t ON t.tenant_id = l.tenant_id
    LEFT JOIN tenant_use u ON u.tenant_id = l.tenant_id
    CROSS JOIN LATERAL (
        SELECT
            count(*)::int AS jobs, min(ready_at) AS since,
            (count(*) FILTER (
                WHERE user_key <> '' AND coalesce((u.users ->> user_key)::int, 0) >= t.user_slots
            ))::int AS of_full_users
        FROM (
            SELECT j.ready_at, j.user_key FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = l.queue_id AND j.tenant_id = l.tenant_id
            ORDER BY j.priority, j.id
            LIMIT %(exact)s + 1
        ) j
    ) ready
),
line AS MATERIALIZED (
    SELECT tenant_id, queue_id, i.position, c.since,
        CASE WHEN c.jobs <= %(exact)s THEN c.jobs ELSE greatest(i.waiting, c.jobs) END AS waiting
    FROM in_line i LEFT JOIN counted c USING (tenant_id, queue_id)
    WHERE c.jobs IS DISTINCT FROM 0  -- guard
),
-- include shared/lane_cuts
told AS (SELECT * FROM lane_cut LEFT JOIN (SELECT tenant_id, queue_id, of_full_users FROM counted) c USING (tenant_id, queue_id))
SELECT
    CASE WHEN since IS NOT NULL THEN tenant_id END AS tenant_id,
    queue_id, gate, no_tokens, count(*)::int AS lanes, sum(waiting)::int AS waiting,
    bool_or(since IS NULL OR waiting > %(exact)s) AS about, min(since) AS first_since,
    sum(coalesce(of_full_users, 0))::int AS of_full_users, sum(passing)::int AS passing
FROM told
GROUP BY 1, queue_id, gate, no_tokens
ORDER BY queue_id, waiting DESC, 1
