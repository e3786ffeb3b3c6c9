-- The job becomes a success and gives its slot back. Returns what is logged of the attempt, and what it is charged for.
UPDATE jobs
SET status = 'success',
    slot = NULL,
    end_time = clock.now,
    stats = %(stats)s,
    units = coalesce(%(units)s, units),
    progress = CASE WHEN progress >= 0 THEN 1 END,
    last_error = '',
    cursor = NULL,
    peak_memory = %(peak_memory)s,
    result_bytes = %(result_bytes)s,
    result_expires_at = clock.now + %(result_ttl)s * interval '1 s'
-- include fenced
RETURNING
    -- include charged
    , queue_id, status AS outcome
