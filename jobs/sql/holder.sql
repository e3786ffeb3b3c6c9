-- Reads:  what the holder of a running attempt was given. Who: a parent process that ends it in its child's place.
SELECT j.id, j.attempt, j.tenant_id, j.source_type, j.source_id, j.source_method, j.args::text AS args,
    j.retries, j.max_retries, q.default_max_retries, q.default_backoff
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s AND j.attempt = %(attempt)s AND j.status = 'running'
