-- Reads:  the slots that these tenants have and hold. Who: the metrics of tenants. Locks: none.
-- Index:  the slug of the tenants; jobs_one_job_per_slot.
SELECT
    t.id, t.slug,
    (SELECT count(*)::int FROM jobs j WHERE j.tenant_id = t.id AND j.slot IS NOT NULL) AS in_use,
    coalesce((SELECT q.num_slots FROM tenant_queues q WHERE q.tenant_id = t.id), 0) AS slots
FROM tenants_tenant t
WHERE t.slug = ANY(%(slugs)s::text[])  -- guard
ORDER BY t.slug
