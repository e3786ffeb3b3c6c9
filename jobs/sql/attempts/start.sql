-- Arrow:  start, queued -> running.
-- Who:    the worker process that received the message (job, attempt). A duplicate, late or repeated message finds no row.
--         A worker that was declared gone starts nothing: recover would take the job back at once. Nor does the job start of
--         a tenant that was deleted while the job was claimed.
-- Locks:  the row. Index: primary key; no indexed column changes (HOT).
UPDATE jobs j
SET status = 'running',
    worker = %(worker)s,
    worker_pid = %(pid)s,
    start_time = coalesce(%(now)s::timestamptz, clock_timestamp())
FROM queues q
WHERE q.id = j.queue_id
  AND j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
  AND j.status = 'queued'  -- guard I3
  AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
  AND EXISTS (SELECT FROM tenants_tenant t WHERE t.id = j.tenant_id)  -- guard
  AND NOT EXISTS (SELECT FROM workers w WHERE w.id = %(worker)s AND w.gone_at IS NOT NULL)  -- guard I3
RETURNING
-- include shared/started
