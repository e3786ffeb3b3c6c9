-- Arrow:  hold, created -> scheduled, for waiting jobs that spend a budget that is used up, so that they do not block others.
-- Who:    the dispatch whose fold has found it; a batch at a time. Index: jobs_claim, of the lanes of such tenants.
-- Locks:  the rows; it skips locked ones, which are put off at their start.
UPDATE jobs
SET status = 'scheduled', ready_at = NULL, due_at = %(held_until)s
FROM (
    SELECT waiting.id
    FROM (SELECT DISTINCT tenant_id FROM spent_budgets) t
    CROSS JOIN queues q
    CROSS JOIN LATERAL (
        SELECT j.id FROM jobs j
        WHERE j.ready_at IS NOT NULL  -- guard
          AND j.queue_id = q.id AND j.tenant_id = t.tenant_id
          AND (
              -- include shared/spent
          )  -- guard
        ORDER BY j.priority, j.id
        LIMIT %(batch)s
        FOR NO KEY UPDATE SKIP LOCKED
    ) waiting
    LIMIT %(batch)s
) held
WHERE jobs.id = held.id
RETURNING jobs.id, attempt, tenant_id
