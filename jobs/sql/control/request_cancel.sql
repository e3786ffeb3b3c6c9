-- Change: a running job is asked to stop. Not an arrow: its holder carries it out, and holds the slot until it has.
-- Who:    its tenant (tenant given), or an operator (null). Locks: the row. Index: primary key.
-- It gives up its key: who wants the same from now on wants another job than the one that is being stopped.
UPDATE jobs
SET cancel_requested_at = coalesce(cancel_requested_at, %(now)s::timestamptz, clock_timestamp()),
    dedup_key = NULL,
    barred = barred OR %(tenant_id)s::bigint IS NULL
WHERE id = %(id)s
  AND status = 'running'  -- guard
  AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
RETURNING id, attempt
