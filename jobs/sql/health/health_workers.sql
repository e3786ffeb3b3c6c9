-- Reads:  the workers that have not left, by pool and state. silent: it missed three beats and is not yet
--         declared gone. draining: it takes no more jobs. Who: health and metrics. Locks: none. Index: workers_live.
WITH
-- include shared/clock
present AS (
    SELECT
        w.pool,
        CASE
            WHEN w.beat_at < clock.now - 3 * w.beat_interval * interval '1 second' THEN 'silent'
            WHEN w.concurrency = 0 THEN 'draining'
            ELSE 'live'
        END AS state
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL  -- guard
)
SELECT pool, state, count(*)::int AS workers FROM present GROUP BY pool, state ORDER BY 1, 2
