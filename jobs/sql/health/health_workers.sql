-- Reads:  the workers that have not left, by pool: their number and processes. silent: it missed three beats and is not yet
--         declared gone. draining: it takes no more jobs. Who: health and metrics. Locks: none. Index: workers_live.
WITH
-- include shared/clock
present AS (
    SELECT
        w.pool, w.concurrency,
        CASE
            WHEN w.beat_at < clock.now - 3 * w.beat_interval * interval '1 second' THEN 'silent'
            WHEN w.concurrency = 0 THEN 'draining'
            ELSE 'live'
        END AS state
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL  -- guard
)
SELECT pool, state, count(*)::int AS workers, sum(concurrency)::int AS processes FROM present GROUP BY pool, state ORDER BY 1, 2
