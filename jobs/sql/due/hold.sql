-- Arrow:  hold, created -> scheduled, for all waiting jobs of a paused type, so that they do not block others.
-- Who:    the operator who pauses the type. Index: jobs_claim, all of it: pausing a type is rare.
-- Locks:  the rows; it skips locked ones, which are put off at their start. So a pause waits for no other transaction, and cannot
--         deadlock: the deletion of a tenant, for example, locks its jobs in any order.
UPDATE jobs
SET status = 'scheduled', ready_at = NULL, due_at = %(held_until)s
FROM (
    SELECT id FROM jobs
    WHERE ready_at IS NOT NULL  -- guard
      AND source_type = %(source_type)s
      AND source_method = %(source_method)s
    FOR NO KEY UPDATE SKIP LOCKED
) waiting
WHERE jobs.id = waiting.id
RETURNING jobs.id, attempt, tenant_id
