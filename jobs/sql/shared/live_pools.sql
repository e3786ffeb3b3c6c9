-- The workers that take jobs, and the pools that these serve, with how many processes. One that drains takes none: what it
-- still runs uses up nobody else's place. Index: workers_live.
live_worker AS MATERIALIZED (
    SELECT w.id, w.pool, w.concurrency
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
      AND w.beat_at > clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
      AND w.concurrency > 0  -- guard
),
live_pool AS MATERIALIZED (SELECT pool, sum(concurrency)::int AS processes FROM live_worker GROUP BY pool),
