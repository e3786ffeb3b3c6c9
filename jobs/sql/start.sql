-- Arrow:  start, queued -> running.
-- Who:    the worker process that received the message (job, attempt). A doubled, late or recovered message finds no row.
-- Locks:  the row. Index: primary key; no indexed column changes (HOT).
UPDATE jobs
SET status = 'running',
    worker = %(worker)s,
    start_time = coalesce(%(now)s::timestamptz, clock_timestamp())
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'queued'  -- guard I3
RETURNING id, attempt, tenant_id, source_type, source_id, source_method, args::text AS args
