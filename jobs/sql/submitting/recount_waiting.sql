-- Change: write the difference as an arrival if a lane's number of waiting jobs is wrong. It does so for the tenants that seem to
--         have used at least half of their limit, since submit refuses by this number; or for all tenants (all).
-- Who:    the clock. Locks: none: one snapshot sees the jobs, the lanes, and what no dispatch has counted yet: arrivals, and
--         the jobs that followed in a slot.
-- Index:  jobs_claim, jobs_scheduled_of_tenant, jobs_blocked_of_tenant, jobs_one_job_per_slot.
WITH known AS MATERIALIZED (
    SELECT queue_id, tenant_id, sum(jobs) AS jobs
    FROM (
        SELECT queue_id, tenant_id, waiting AS jobs FROM lanes
        UNION ALL
        SELECT queue_id, tenant_id, jobs FROM arrivals
        UNION ALL
        SELECT queue_id, tenant_id, -followed FROM freed_slots WHERE followed > 0
        UNION ALL
        SELECT queue_id, tenant_id, -followed FROM jobs WHERE slot IS NOT NULL AND followed > 0
    ) told
    GROUP BY queue_id, tenant_id
),
near AS MATERIALIZED (
    SELECT busy.tenant_id
    FROM (
        SELECT known.tenant_id
        FROM known
        LEFT JOIN tenant_queues limits USING (tenant_id)
        GROUP BY known.tenant_id, limits.max_waiting
        HAVING %(all)s OR 2 * sum(known.jobs) >= coalesce(limits.max_waiting, %(max_waiting)s::int)
    ) busy
    -- A deleted one's lanes are to be forgotten: the difference would begin one anew.
    WHERE EXISTS (SELECT FROM tenants_tenant t WHERE t.id = busy.tenant_id)  -- guard
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
        SELECT j.queue_id, j.tenant_id, 1
        FROM near
        JOIN jobs j ON j.blocked_at IS NOT NULL AND j.tenant_id = near.tenant_id
        UNION ALL
        SELECT queue_id, tenant_id, -jobs FROM known JOIN near USING (tenant_id)
    ) counted
    GROUP BY queue_id, tenant_id
    HAVING sum(jobs) <> 0
)
-- include shared/arrive
SELECT queue_id, tenant_id, jobs FROM arriving
