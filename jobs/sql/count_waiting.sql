-- Reads:  how many of a tenant's jobs wait, counted up to `most`. Who: submit, to refuse what would fill the disk.
-- Locks:  none. Index: jobs_claim, queue by queue, and jobs_scheduled_of_tenant.
SELECT count(*)
FROM (
    SELECT FROM queues q
    CROSS JOIN LATERAL (
        SELECT FROM jobs j
        WHERE j.ready_at IS NOT NULL AND j.queue_id = q.id AND j.tenant_id = %(tenant_id)s
        LIMIT %(most)s
    ) created
    UNION ALL
    (SELECT FROM jobs WHERE due_at IS NOT NULL AND tenant_id = %(tenant_id)s LIMIT %(most)s)
) waiting
