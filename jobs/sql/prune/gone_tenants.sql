-- Reads:  the tenants that do not exist, but have jobs, since a submit and the deletion of its tenant do not wait for each
--         other; or lanes or a book. Who: the clock's upkeep. Locks: none.
-- Index:  jobs_of_tenant: one look for each tenant that has jobs, however many those are; primary keys, the lanes' whole.
WITH RECURSIVE owner AS (
    (SELECT tenant_id FROM jobs ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT j.tenant_id FROM jobs j WHERE j.tenant_id > owner.tenant_id ORDER BY j.tenant_id LIMIT 1)
    FROM owner
    WHERE owner.tenant_id IS NOT NULL
),
known AS (
    SELECT tenant_id FROM owner WHERE tenant_id IS NOT NULL
    UNION
    SELECT tenant_id FROM lanes
    UNION
    SELECT tenant_id FROM tenant_books
)
SELECT tenant_id FROM known
WHERE NOT EXISTS (SELECT FROM tenants_tenant t WHERE t.id = known.tenant_id)  -- guard
