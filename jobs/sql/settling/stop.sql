-- Arrow:  stop, running -> cancelled: the code stopped on request. Or it failed, and the request, or a newer call that
--         has replaced it, prevents a retry: then error_class is given, and the failed attempt is kept.
-- Who:    its holder, or the parent process that ended the holder at its hard time limit; fenced.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'cancelled',
        slot = NULL,
        reason = 'replaced by ' || replaced_by,
        end_time = clock.now,
        stats = coalesce(%(stats)s, stats),
        cursor = coalesce(%(cursor)s::jsonb, cursor),
        units = coalesce(%(units)s, units),
        peak_memory = %(peak_memory)s,
        last_error = coalesce(%(error_class)s::text || ': ' || %(error)s::text, last_error)
    -- include holder/fenced
      AND (cancel_requested_at IS NOT NULL OR replaced_by IS NOT NULL)  -- guard
    RETURNING
        -- include holder/charged
        , queue_id, status AS outcome
)
-- include shared/failed_attempt
-- include holder/freed
