-- The pools that somebody serves, and with how many processes. A worker that drains has none. Index: workers_live.
live_pool AS MATERIALIZED (
    SELECT w.pool, sum(w.concurrency)::int AS processes
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
      AND w.beat_at > clock.now - %(live_for)s * interval '1 second'  -- guard
    GROUP BY w.pool
),
