-- Reads:  whether a job has not ended. Who: cancel, which tries again in that case. Locks: none. Index: primary key.
SELECT id FROM jobs
WHERE id = %(id)s AND end_time IS NULL AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)
