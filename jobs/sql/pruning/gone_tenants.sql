-- Reads:  the tenants that have jobs and do not exist: a submit and the deletion of its tenant do not wait for each other.
-- Who:    the clock's upkeep. Index: jobs_of_tenant: one look for each tenant that has jobs, however many those are.
WITH RECURSIVE owner AS (
    (SELECT tenant_id FROM jobs ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT j.tenant_id FROM jobs j WHERE j.tenant_id > owner.tenant_id ORDER BY j.tenant_id LIMIT 1)
    FROM owner
    WHERE owner.tenant_id IS NOT NULL
)
SELECT tenant_id FROM owner
WHERE tenant_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM tenants_tenant t WHERE t.id = owner.tenant_id)  -- guard
