-- Every queue of `turn`, open or not, by its book: its jobs in slots, those of its pool, and its tokens.
-- include shared/pool_states
queue_state AS (
    SELECT
-- include shared/queue_now
    FROM turn t
    JOIN pool_state p ON p.pool = t.pool
    CROSS JOIN clock
    CROSS JOIN LATERAL (SELECT coalesce(date_part('epoch', clock.now - t.timed_at), 0) AS seconds) passed
    CROSS JOIN LATERAL (SELECT CASE WHEN t.rate_limit IS NOT NULL THEN
        rate_full_at(t.rate_limit, t.rate_window, t.full_at, t.full_limit, t.full_window, clock.now)
    END AS full_at) bucket
),
