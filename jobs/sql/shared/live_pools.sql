-- The workers that take jobs, and the pools that they serve, with their processes. A draining worker takes no jobs, and the
-- jobs that it still runs take no processes of other workers. Index: workers_live.
live_worker AS MATERIALIZED (
    SELECT w.id, w.pool, w.concurrency
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
      AND w.beat_at > clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
      AND w.concurrency > 0  -- guard
),
live_pool AS MATERIALIZED (SELECT pool, sum(concurrency)::int AS processes FROM live_worker GROUP BY pool),
