-- Change: ask a running job to stop. Not an arrow: the holder stops the job, and keeps the slot until then.
-- Who:    its tenant (tenant given), or an operator (null). Locks: the row. Index: primary key.
-- The job gives up its key: an identical request must not get a job that is being stopped.
UPDATE jobs
SET cancel_requested_at = coalesce(cancel_requested_at, %(now)s::timestamptz, clock_timestamp()),
    dedup_key = NULL,
    barred = barred OR %(tenant_id)s::bigint IS NULL
WHERE id = %(id)s
  AND status = 'running'  -- guard
  AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
RETURNING id, attempt
