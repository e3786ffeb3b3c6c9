-- The pools of the queues in `turn`: their processes, and the jobs that take some. Only while a worker drains or is silent, what
-- it still runs is counted, one by one.
leaving AS MATERIALIZED (
    SELECT q.pool, count(*)::int AS n
    FROM (SELECT array_agg(id) AS workers FROM present_worker WHERE NOT live HAVING count(*) > 0) w
    CROSS JOIN LATERAL (
        SELECT queue_id FROM jobs WHERE slot IS NOT NULL AND worker = ANY(w.workers) ORDER BY tenant_id, slot
    ) j
    CROSS JOIN LATERAL (SELECT pool FROM queues WHERE id BETWEEN j.queue_id AND j.queue_id ORDER BY id LIMIT 1) q
    GROUP BY q.pool
),
pool_state AS MATERIALIZED (
    SELECT
        t.pool, max(coalesce(t.pool_time, 0)) AS now,
        greatest(sum(coalesce(t.in_use, 0)) - coalesce((SELECT n FROM leaving l WHERE l.pool = t.pool), 0), 0)::int AS in_use,
        coalesce((SELECT processes FROM live_pool l WHERE l.pool = t.pool), 0) AS capacity
    FROM turn t GROUP BY t.pool
),
