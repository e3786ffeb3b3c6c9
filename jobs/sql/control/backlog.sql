-- Reads:  the number of a tenant's waiting jobs, and the limit. Who: a revive by the tenant. Locks: none.
-- Index:  primary key of the lanes; it counts no jobs.
SELECT waiting.jobs, coalesce(limits.max_waiting, %(max_waiting)s::int)
FROM (SELECT %(tenant_id)s::bigint AS tenant_id) asked
LEFT JOIN tenant_queues limits USING (tenant_id)
CROSS JOIN LATERAL (
-- include shared/backlog
) waiting
