-- Arrow:  promote, scheduled -> created, for the jobs that are due.
-- Who:    the clock.
-- Locks:  the rows; one that somebody is cancelling is left to the next pass.
-- Index:  jobs_due.
UPDATE jobs
SET status = 'created', ready_at = due_at, due_at = NULL
WHERE id IN (
    SELECT id FROM jobs
    WHERE due_at <= coalesce(%(now)s::timestamptz, clock_timestamp())  -- guard
    ORDER BY due_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING id, attempt
