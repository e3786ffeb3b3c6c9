-- Change: write the difference as an arrival if a lane's number of waiting jobs is wrong. Only for tenants that seem to
--         have used at least half of their limit: submit refuses by this number.
-- Who:    the clock. Locks: none: one snapshot sees the jobs, the lanes, and the arrivals that no dispatch has taken yet.
-- Index:  jobs_claim, and jobs_scheduled_of_tenant.
WITH known AS MATERIALIZED (
    SELECT queue_id, tenant_id, sum(jobs) AS jobs
    FROM (
        SELECT queue_id, tenant_id, waiting AS jobs FROM lanes
        UNION ALL
        SELECT queue_id, tenant_id, jobs FROM arrivals
    ) told
    GROUP BY queue_id, tenant_id
),
near AS MATERIALIZED (
    SELECT known.tenant_id
    FROM known
    LEFT JOIN tenant_queues limits USING (tenant_id)
    GROUP BY known.tenant_id, limits.max_waiting
    HAVING 2 * sum(known.jobs) >= coalesce(limits.max_waiting, %(max_waiting)s::int)
),
arriving AS MATERIALIZED (
    SELECT queue_id, tenant_id, NULL::bigint AS place, sum(jobs)::int AS jobs
    FROM (
        SELECT j.queue_id, j.tenant_id, 1 AS jobs
        FROM near
        CROSS JOIN queues q
        JOIN jobs j ON j.ready_at IS NOT NULL AND j.queue_id = q.id AND j.tenant_id = near.tenant_id
        UNION ALL
        SELECT j.queue_id, j.tenant_id, 1
        FROM near
        JOIN jobs j ON j.due_at IS NOT NULL AND j.tenant_id = near.tenant_id
        UNION ALL
        SELECT queue_id, tenant_id, -jobs FROM known JOIN near USING (tenant_id)
    ) counted
    GROUP BY queue_id, tenant_id
    HAVING sum(jobs) <> 0
)
-- include shared/arrive
SELECT queue_id, tenant_id, jobs FROM arriving
