-- Arrow:  succeed, running -> success. The same statement frees the slot, or passes it to the next job of the lane
--         (`follow`); then the end of the last job frees and charges it.
-- Who:    its holder, fenced: a stale holder, of an earlier attempt or in another process, changes nothing.
-- Locks:  the row, then the row of the next job. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
settled AS (
    UPDATE jobs
    SET status = 'success',
        slot = NULL,
        end_time = clock.now,
        stats = %(stats)s,
        progress = CASE WHEN progress >= 0 THEN 1 END,
        last_error = '',
        peak_memory = %(peak_memory)s,
        result_bytes = %(result_bytes)s,
        result_expires_at = clock.now + %(result_ttl)s * interval '1 s'
    -- include holder/fenced
    RETURNING
        -- include shared/ended
        , queue_id, status AS outcome,
        date_part('epoch', clock.now - coalesce(%(since)s::timestamptz, start_time)) AS seconds,
        followed, %(lost)s::bool AS lost
)
, logged AS (
    -- include shared/attempt
    FROM settled
)
-- include succeed/follow
, ended AS (SELECT * FROM settled WHERE NOT EXISTS (SELECT FROM followed))
-- include shared/freed
SELECT followed.* FROM settled LEFT JOIN followed ON true
