-- Arrow:  discard, dead -> cancelled: remove a job from the dead-letter queue without another attempt.
-- Who:    an operator; the tenant cannot revive the job. Locks: the row. Index: primary key.
UPDATE jobs
SET status = 'cancelled', died_at = NULL, barred = true
WHERE id = %(id)s
  AND status = 'dead'  -- guard
RETURNING id, attempt, tenant_id
