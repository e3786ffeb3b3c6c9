-- Change: the sample of this minute, unless it is there: what each tenant with work holds, may hold and has waiting; what each
--         queue holds and has waiting; what each pool holds, and its processes. The waiting are those that the lanes count.
-- Who:    the recorder. Locks: none. Index: jobs_one_job_per_slot; workers_live; all lanes.
WITH
-- include shared/clock
held AS MATERIALIZED (
    SELECT tenant_id, queue_id, count(*) AS held FROM jobs WHERE slot IS NOT NULL GROUP BY tenant_id, queue_id
),
work AS MATERIALIZED (
    SELECT tenant_id, queue_id, coalesce(held.held, 0) AS held, greatest(coalesce(lane.waiting, 0), 0) AS waiting
    FROM (SELECT tenant_id, queue_id, sum(waiting) AS waiting FROM lanes WHERE waiting > 0 GROUP BY 1, 2) lane
    FULL JOIN held USING (tenant_id, queue_id)
),
by_tenant AS (
    SELECT w.tenant_id, sum(w.held) AS held, coalesce(max(t.num_slots), 0) AS slots, sum(w.waiting) AS waiting
    FROM work w LEFT JOIN tenant_queues t ON t.tenant_id = w.tenant_id
    GROUP BY w.tenant_id
),
by_queue AS (SELECT queue_id, sum(held) AS held, sum(waiting) AS waiting FROM work GROUP BY queue_id),
by_pool AS (
    SELECT pool, sum(held) AS held, sum(processes) AS processes
    FROM (
        SELECT pool, 0 AS held, concurrency AS processes FROM workers WHERE gone_at IS NULL
        UNION ALL
        SELECT q.pool, b.held, 0 FROM by_queue b JOIN queues q ON q.id = b.queue_id
    ) uses
    GROUP BY pool
)
INSERT INTO samples (at, tenants, queues, pools)
SELECT date_trunc('minute', clock.now, 'UTC'),
    (SELECT coalesce(jsonb_object_agg(tenant_id, jsonb_build_object('held', held, 'slots', slots, 'waiting', waiting)), '{}')
     FROM by_tenant),
    (SELECT coalesce(jsonb_object_agg(queue_id, jsonb_build_object('held', held, 'waiting', waiting)), '{}') FROM by_queue),
    (SELECT coalesce(jsonb_object_agg(pool, jsonb_build_object('held', held, 'processes', processes)), '{}') FROM by_pool)
FROM clock
WHERE NOT EXISTS (SELECT FROM samples s WHERE s.at = date_trunc('minute', clock.now, 'UTC'))
ON CONFLICT (at) DO NOTHING
