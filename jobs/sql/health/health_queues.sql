-- Reads:  each queue: what it holds and has waiting, how many jobs could start now if its pool had processes without end, and
--         how long the first jobs of its lanes have been ready. The waiting are those that the lanes count, so no
--         waiting job is read but the first of each lane: as many as its tenant has free slots.
-- Who:    health and metrics, every few seconds at most. Users' limits are not counted. Locks: none.
-- Index:  jobs_in_use, jobs_claim; of lanes with work at most `most`, those with the most work first.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/in_use
-- include shared/queue_states
tenant_use AS MATERIALIZED (SELECT tenant_id, count(*)::int AS n FROM in_use GROUP BY tenant_id),
lane AS MATERIALIZED (SELECT queue_id, tenant_id, waiting FROM lanes WHERE waiting > 0),
tenant_state AS MATERIALIZED (
    SELECT
        t.tenant_id,
        floor(least(
            t.num_slots - coalesce(u.n, 0), rate_tokens(t.rate_limit, t.rate_window, b.full_at, clock.now)
        ))::int AS free
    FROM tenant_queues t
    CROSS JOIN clock
    LEFT JOIN tenant_use u ON u.tenant_id = t.tenant_id
    LEFT JOIN LATERAL (
        SELECT full_at FROM tenant_buckets b WHERE b.tenant_id = t.tenant_id ORDER BY version DESC LIMIT 1
    ) b ON true
    WHERE NOT t.paused  -- guard
),
first AS (
    SELECT
        l.queue_id, l.tenant_id, t.free, ready.jobs, ready.since
    FROM (SELECT * FROM lane ORDER BY waiting DESC LIMIT %(most)s) l
    LEFT JOIN tenant_state t ON t.tenant_id = l.tenant_id
    CROSS JOIN LATERAL (
        SELECT count(*)::int AS jobs, min(ready_at) AS since
        FROM (
            SELECT j.ready_at FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = l.queue_id AND j.tenant_id = l.tenant_id
            ORDER BY j.priority, j.id
            LIMIT greatest(t.free, 1)
        ) j
    ) ready
),
takeable AS (  -- a tenant's free slots serve its queues in their order
    SELECT
        f.queue_id, f.since,
        greatest(least(
            f.jobs,
            f.free - coalesce(sum(f.jobs) OVER (
                PARTITION BY f.tenant_id ORDER BY f.queue_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0)
        ), 0) AS jobs
    FROM first f JOIN queue_state q ON q.id = f.queue_id
    WHERE f.free > 0  -- guard
      AND NOT q.paused  -- guard
      AND (q.concurrency IS NULL OR q.concurrency > q.in_use)
      AND (q.rate_limit IS NULL OR q.tokens >= 1)
),
may_run AS (SELECT queue_id, sum(jobs) AS jobs, min(since) AS since FROM takeable WHERE jobs > 0 GROUP BY queue_id)
SELECT
    q.name, q.pool, q.pool_capacity, q.pool_in_use, q.in_use,
    coalesce((SELECT sum(waiting) FROM lane WHERE lane.queue_id = q.id), 0)::int AS waiting,
    extract(epoch FROM clock.now - (SELECT min(since) FROM first WHERE first.queue_id = q.id))::float8 AS oldest,
    greatest(least(coalesce(m.jobs, 0), q.concurrency - q.in_use, floor(q.tokens)), 0)::int AS may_run,
    extract(epoch FROM clock.now - m.since)::float8 AS may_run_since
FROM queue_state q
CROSS JOIN clock
LEFT JOIN may_run m ON m.queue_id = q.id
ORDER BY q.name
