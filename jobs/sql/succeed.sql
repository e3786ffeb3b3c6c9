-- Arrow:  succeed, running -> success. The slot is freed by the statement that ends the attempt.
-- Who:    its holder, fenced: a zombie of an earlier attempt changes nothing.
-- Locks:  the row. Index: primary key.
UPDATE jobs
SET status = 'success',
    slot = NULL,
    end_time = coalesce(%(now)s::timestamptz, clock_timestamp()),
    stats = %(stats)s,
    progress = CASE WHEN progress IS NULL THEN NULL ELSE 1 END,
    last_error = '',
    result_expires_at = coalesce(%(now)s::timestamptz, clock_timestamp()) + %(result_ttl)s * interval '1 second'
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
RETURNING id, attempt
