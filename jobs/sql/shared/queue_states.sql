-- Every queue, open or not: its jobs in slots, those of its pool, and its tokens. A null limit is ignored.
queue_use AS MATERIALIZED (
    SELECT queue_id, count(*)::int AS n, sum(seconds) AS seconds FROM in_use GROUP BY queue_id
),
-- Jobs on their way to a pool take processes of it, and so do jobs on its workers that take jobs. (PostgreSQL looks up an IN
-- beside an OR in a hash table, whatever it estimates.)
pool_use AS MATERIALIZED (
    SELECT pool, count(*) FILTER (WHERE worker IS NULL OR worker IN (SELECT id FROM live_worker))::int AS n
    FROM in_use GROUP BY pool
),
queue_state AS MATERIALIZED (
    SELECT
        q.id, q.name, q.pool, q.weight, q.default_max_retries, q.default_backoff, q.backoff_grows, q.concurrency, q.paused,
        q.rate_limit, q.rate_window,
        coalesce(qu.n, 0) AS in_use, coalesce(qu.seconds, 0) AS seconds,
        coalesce(pu.n, 0) AS pool_in_use, coalesce(p.processes, 0) AS pool_capacity,
        rate_tokens(q.rate_limit, q.rate_window, t.full_at, clock.now) AS tokens,
        rate_full_at(q.rate_window, t.full_at, clock.now) AS full_at,
        t.ctid AS turn_row,
        coalesce(t.virtual_time, 0) AS virtual_time, coalesce(t.pool_time, 0) AS pool_time,
        coalesce(t.lane_time, 0) AS lane_time, coalesce(t.head, 0) AS head, coalesce(t.circle_end, 0) AS circle_end,
        t.round_least
    FROM queues q
    CROSS JOIN clock
    LEFT JOIN queue_use qu ON qu.queue_id = q.id
    LEFT JOIN pool_use pu ON pu.pool = q.pool
    LEFT JOIN live_pool p ON p.pool = q.pool
    LEFT JOIN LATERAL (
        SELECT ctid, virtual_time, pool_time, lane_time, head, circle_end, round_least, full_at FROM queue_turns t
        WHERE t.queue_id = q.id ORDER BY version DESC LIMIT 1
    ) t ON true
),
