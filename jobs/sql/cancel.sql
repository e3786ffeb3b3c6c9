-- Arrow:  cancel, scheduled / created / queued -> cancelled. The message of a queued one finds no row at its start.
-- Who:    its tenant (tenant given), or an operator (null).
-- Locks:  the row, shortly: the claim skips it meanwhile, so whoever cancels asks for a dispatch afterwards.
-- Index:  primary key.
UPDATE jobs
SET status = 'cancelled',
    due_at = NULL,
    ready_at = NULL,
    slot = NULL,
    end_time = coalesce(%(now)s::timestamptz, clock_timestamp())
WHERE id = %(id)s
  AND status IN ('scheduled', 'created', 'queued')  -- guard
  AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
RETURNING id, attempt
