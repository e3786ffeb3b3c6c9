-- Arrow:  discard, dead -> cancelled: out of the dead-letter queue, without another go.
-- Who:    an operator, whose word is the last: its tenant cannot revive it. Locks: the row. Index: primary key.
UPDATE jobs
SET status = 'cancelled', died_at = NULL, barred = true
WHERE id = %(id)s
  AND status = 'dead'  -- guard
RETURNING id, attempt
