-- Arrow:  fail, running -> error, or bury, running -> dead; the failed attempt is kept.
-- Who:    its holder, or the parent process that ended the holder at its hard time limit; fenced.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = CASE WHEN %(dead)s THEN 'dead' ELSE 'error' END,
        died_at = CASE WHEN %(dead)s THEN clock.now END,
        slot = NULL,
        end_time = clock.now,
        stats = coalesce(%(stats)s, stats),
        cursor = coalesce(%(cursor)s::jsonb, cursor),
        units = coalesce(%(units)s, units),
        peak_memory = %(peak_memory)s,
        last_error = %(error_class)s || ': ' || %(error)s,
        error_key = %(error_key)s::bigint
    -- include holder/fenced
    RETURNING
        -- include holder/charged
        , queue_id, status AS outcome
)
-- include shared/failed_attempt
-- include holder/freed
