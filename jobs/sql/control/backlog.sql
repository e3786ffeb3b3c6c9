-- Reads:  how many jobs of a tenant wait, and how many may. Who: its revive. Locks: none.
-- Index:  primary key of the lanes; not one job is counted.
SELECT waiting.jobs, coalesce(limits.max_waiting, %(max_waiting)s::int)
FROM (SELECT %(tenant_id)s::bigint AS tenant_id) asked
LEFT JOIN tenant_queues limits USING (tenant_id)
CROSS JOIN LATERAL (
-- include shared/backlog
) waiting
