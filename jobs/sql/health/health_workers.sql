-- Reads:  the workers that have not left, and those that were lost in the last hour, by pool and state. silent: it missed
--         three beats and is not yet declared gone. draining: it takes no more jobs. lost: it was declared gone.
-- Who:    health and metrics. Locks: none. Index: none, the table has few rows.
WITH
-- include shared/clock
present AS (
    SELECT
        w.pool,
        CASE
            WHEN w.lost THEN 'lost'
            WHEN w.beat_at < clock.now - 3 * w.beat_interval * interval '1 second' THEN 'silent'
            WHEN w.concurrency = 0 THEN 'draining'
            ELSE 'live'
        END AS state
    FROM workers w CROSS JOIN clock
    WHERE (w.gone_at IS NULL OR w.lost AND w.gone_at > clock.now - interval '1 hour')  -- guard
)
SELECT pool, state, count(*)::int AS workers FROM present GROUP BY pool, state ORDER BY 1, 2
