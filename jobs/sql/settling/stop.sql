-- Arrow:  stop, running -> cancelled: the code stopped on request. Or it failed, and the request prevents a retry: then
--         error_class is given, and the failed attempt is kept.
-- Who:    its holder, or the parent process that ended the holder at its hard time limit; fenced.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'cancelled',
        slot = NULL,
        end_time = clock.now,
        stats = coalesce(%(stats)s, stats),
        peak_memory = %(peak_memory)s,
        last_error = coalesce(%(error_class)s::text || ': ' || %(error)s::text, last_error)
    FROM clock CROSS JOIN before
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
      AND (%(pid)s::int IS NULL OR (worker = %(worker)s::uuid AND worker_pid = %(pid)s::int))  -- guard I3
      AND cancel_requested_at IS NOT NULL  -- guard
    RETURNING
        -- include shared/ended
        , queue_id, status AS outcome,
        extract(epoch FROM clock.now - coalesce(%(since)s::timestamptz, start_time))::float8 AS seconds,
        followed, %(lost)s::bool AS lost
)
-- include shared/failed_attempt
-- include shared/freed
, logged AS (
    -- include shared/attempt
    FROM ended
)
SELECT id, attempt FROM ended
