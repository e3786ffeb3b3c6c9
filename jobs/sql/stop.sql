-- Arrow:  stop, running -> cancelled: the code has stopped, as it was asked to.
-- Who:    its holder, fenced. Locks: the row. Index: primary key.
UPDATE jobs
SET status = 'cancelled',
    slot = NULL,
    end_time = coalesce(%(now)s::timestamptz, clock_timestamp()),
    stats = coalesce(%(stats)s, stats)
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND cancel_requested_at IS NOT NULL  -- guard
RETURNING id, attempt
