-- Reads:  the lanes with jobs in line, and where their tenants' limits hold these jobs. One row for each lane that is looked
--         at: the `most` with the most jobs, and the `most` whose turn is next; and one row (tenant null) for the others of
--         a queue at a gate. Of a lane that is looked at, up to `exact` jobs are counted; of the others, and beyond, the
--         number that the lane keeps tells about how many. of_full_users: of those that were counted, the jobs of users who
--         have all slots that they may have. tenants: only their lanes; null: all. most: null: each lane is looked at.
--         late: jobs that may run, and could already at a look of the recorder at least `apart` seconds ago. A job that
--         became ready anew since then (it ran, and waits for a retry) was noted for an earlier wait.
-- Who:    health, metrics and the operators' pages, every few seconds. Locks: none.
-- Index:  primary keys of lanes, arrivals and tenant_queues; all of the books; jobs_claim for the lanes that are looked at.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/books
-- include shared/queue_states
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
late AS MATERIALIZED (
    SELECT j.tenant_id, j.queue_id, count(*)::int AS jobs, min(m.since) AS since, max(m.idle_looks) AS idle_looks
    FROM may_run m
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT tenant_id, queue_id FROM jobs
        WHERE id BETWEEN m.job_id AND m.job_id
          AND ready_at <= m.since  -- guard
        ORDER BY id LIMIT 1
    ) j
    WHERE m.since <= clock.now - %(apart)s * interval '1 second'  -- guard
    GROUP BY j.tenant_id, j.queue_id
)
SELECT
    CASE WHEN l.since IS NOT NULL THEN l.tenant_id END AS tenant_id,
    l.queue_id, l.gate, l.no_tokens, count(*)::int AS lanes, sum(l.waiting)::int AS waiting,
    bool_or(l.since IS NULL OR l.waiting > %(exact)s) AS about, min(l.since) AS first_since,
    sum(coalesce(c.of_full_users, 0))::int AS of_full_users, sum(l.passing)::int AS passing,
    sum(least(coalesce(late.jobs, 0), l.passing))::int AS late,
    min(late.since) FILTER (WHERE l.passing > 0) AS late_since,
    coalesce(max(late.idle_looks) FILTER (WHERE l.passing > 0), 0) AS idle_looks
FROM lane_cut l
LEFT JOIN counted c ON c.tenant_id = l.tenant_id AND c.queue_id = l.queue_id
LEFT JOIN late ON late.tenant_id = l.tenant_id AND late.queue_id = l.queue_id
GROUP BY 1, l.queue_id, l.gate, l.no_tokens
ORDER BY l.queue_id, waiting DESC, 1
