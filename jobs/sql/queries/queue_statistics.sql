-- Reads:  the attempts of all tenants that ended since a minute, by queue, job type and outcome. Who: operators.
-- Locks:  none. Index: the primary key of job_minutes.
SELECT q.name, m.source_type, m.source_method, m.outcome, sum(m.attempts)::bigint, sum(m.run_seconds),
       sum_buckets(m.run_buckets, 1), sum_buckets(m.wait_buckets, 1)
FROM job_minutes m
JOIN queues q ON q.id = m.queue_id
WHERE m.minute >= %(since)s::timestamptz
GROUP BY q.name, m.source_type, m.source_method, m.outcome
