-- Reads:  the attempts of a tenant that ended since an hour, by queue, job type and outcome. Who: the tenant, and operators.
-- Locks:  none. Index: the primary key of tenant_hours.
SELECT q.name, h.source_type, h.source_method, h.outcome, sum(h.attempts)::bigint, sum(h.run_seconds),
       sum_buckets(h.run_buckets, 1), sum_buckets(h.wait_buckets, 1)
FROM tenant_hours h
JOIN queues q ON q.id = h.queue_id
WHERE h.hour >= %(since)s::timestamptz
  AND h.tenant_id = %(tenant_id)s  -- guard I8
GROUP BY q.name, h.source_type, h.source_method, h.outcome
