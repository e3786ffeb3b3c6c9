-- The workers that are not gone, and the processes of the pools that they serve. A worker that drains or is silent takes no
-- jobs (live is false), and the jobs that it still runs take no processes of other workers. light: the pool has feeders, which claim
-- for it (claiming/claim/room.sql). Index: workers_live.
present_worker AS MATERIALIZED (
    SELECT
        w.id, w.pool, w.kind, w.concurrency,
        w.gone_at IS NULL
        AND w.concurrency > 0  -- guard
        AND w.beat_at > clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
        AS live
    FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
),
live_pool AS MATERIALIZED (
    SELECT pool, sum(concurrency)::int AS processes, bool_or(kind = 'light') AS light FROM present_worker WHERE live GROUP BY pool
),
