-- Arrow:  snooze, running -> scheduled: the job asked to be run again later. No failure, and no retry spent.
-- Who:    its holder, fenced; the attempt number stays spent, or it would fence nothing. Not when it is to be cancelled.
-- Locks:  the row. Index: primary key.
UPDATE jobs
SET status = 'scheduled',
    due_at = coalesce(%(now)s::timestamptz, clock_timestamp()) + %(delay)s * interval '1 second',
    slot = NULL,
    stats = %(stats)s
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND cancel_requested_at IS NULL  -- guard
RETURNING id, attempt
