-- name: queue_statistics
-- Reads:  the attempts of all tenants that ended since a minute, by queue, job type and outcome.
-- Who:    operators. Locks:  none. Index: the primary key of job_minutes.
SELECT
    q.name AS queue, m.source_type, m.source_method, m.outcome,
    sum(m.attempts)::bigint AS attempts, sum(m.run_seconds) AS run_seconds,
    -- include shared/times_added
FROM job_minutes m
JOIN queues q ON q.id = m.queue_id
WHERE m.minute >= %(since)s::timestamptz
GROUP BY q.name, m.source_type, m.source_method, m.outcome

-- name: tenant_statistics
-- Reads:  the attempts of a tenant that ended since an hour, by queue, job type and outcome. Who: the tenant, and operators.
-- Locks:  none. Index: the primary key of tenant_hours.
SELECT
    q.name AS queue, h.source_type, h.source_method, h.outcome,
    sum(h.attempts)::bigint AS attempts, sum(h.run_seconds) AS run_seconds,
    -- include shared/times_added
FROM tenant_hours h
JOIN queues q ON q.id = h.queue_id
WHERE h.hour >= %(since)s::timestamptz
  AND h.tenant_id = %(tenant_id)s  -- guard I8
GROUP BY q.name, h.source_type, h.source_method, h.outcome
