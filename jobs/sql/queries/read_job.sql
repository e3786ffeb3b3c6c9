-- Reads:  one job of a tenant, with the columns that the tenant sees. Who: a client that follows a job. Locks: none.
-- Index:  primary key.
SELECT
-- include read_job/columns
FROM jobs j
JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.tenant_id = %(tenant_id)s  -- guard I8
