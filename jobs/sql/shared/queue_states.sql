-- Every queue, open or not, by its book in `turn`: its jobs in slots, those of its pool, and its tokens. A null limit is
-- ignored. Only while a worker drains or is silent, what it still runs is counted, one by one.
leaving AS MATERIALIZED (
    SELECT j.queue_id, count(*)::int AS n
    FROM (SELECT array_agg(id) AS workers FROM present_worker WHERE NOT live HAVING count(*) > 0) w
    CROSS JOIN LATERAL (
        SELECT queue_id FROM jobs WHERE slot IS NOT NULL AND worker = ANY(w.workers) ORDER BY tenant_id, slot
    ) j
    GROUP BY j.queue_id
),
queue_state AS (
    SELECT
        q.*, greatest(sum(q.in_use - q.leaving) OVER same_pool, 0)::int AS pool_in_use, max(q.pool_time) OVER same_pool AS pool_now,
        rate_tokens(q.rate_limit, q.rate_window, q.bucket, q.now) AS tokens,
        rate_full_at(q.rate_window, q.bucket, q.now) AS full_at
    FROM (
        SELECT
            t.id, t.name, t.pool, t.weight, t.default_max_retries, t.default_backoff, t.backoff_grows, t.concurrency,
            t.paused, t.rate_limit, t.rate_window, clock.now, t.row AS turn_row, coalesce(t.in_use, 0) AS in_use,
            coalesce((SELECT sum(w.concurrency) FROM present_worker w WHERE w.live AND w.pool = t.pool), 0)::int AS pool_capacity,
            coalesce(l.n, 0) AS leaving, t.full_at AS bucket, t.virtual_time, coalesce(t.pool_time, 0) AS pool_time,
            coalesce(t.head, 0) AS head, t.circle_end, t.growth, t.lane_time + t.growth * passed.seconds AS lane_time,
            t.round_growth, t.round_least + t.round_growth * passed.seconds AS round_least, t.mean_seconds,
            worked_since(t.in_use, t.tickets, clock.now) AS seconds
        FROM turn t
        CROSS JOIN clock
        LEFT JOIN leaving l ON l.queue_id = t.id
        CROSS JOIN LATERAL (SELECT coalesce(date_part('epoch', clock.now - t.timed_at), 0) AS seconds) passed
    ) q
    WINDOW same_pool AS (PARTITION BY q.pool)
),
