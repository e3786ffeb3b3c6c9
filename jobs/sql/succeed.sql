-- Arrow:  succeed, running -> success. The slot is freed by the statement that ends the attempt.
-- Who:    its holder, fenced: a zombie of an earlier attempt changes nothing.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
ended AS (
    UPDATE jobs
    SET status = 'success',
        slot = NULL,
        end_time = clock.now,
        stats = %(stats)s,
        progress = CASE WHEN progress IS NULL THEN NULL ELSE 1 END,
        last_error = '',
        result_expires_at = clock.now + %(result_ttl)s * interval '1 second'
    FROM clock
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
    RETURNING id, attempt, tenant_id, queue_id, timeout, extract(epoch FROM clock.now - start_time)::float8 AS seconds
)
-- include shared/freed
SELECT id, attempt FROM ended
