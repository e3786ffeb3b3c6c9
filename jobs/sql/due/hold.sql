-- Arrow:  hold, created -> scheduled, for all waiting jobs of a paused type, so that they do not block others.
-- Who:    the operator who pauses the type. Locks: the rows. Index: jobs_claim, all of it: pausing a type is rare.
UPDATE jobs
SET status = 'scheduled', ready_at = NULL, due_at = %(held_until)s
WHERE ready_at IS NOT NULL  -- guard
  AND source_type = %(source_type)s
  AND source_method = %(source_method)s
RETURNING id, attempt, tenant_id
