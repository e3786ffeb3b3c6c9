-- Reads:  which of these attempts of a worker are to give their slots back at a checkpoint, and why (null: they are not); and for how many
--         jobs of other lanes their pool lacks processes (0: for none), which matters to those whose turn is over.
-- Who:    the parent of the worker, each second, if attempts that run in it have made checkpoints. Locks: none.
-- Index:  primary keys; jobs_one_job_per_slot, for the tenants of these attempts; lanes_circle, two of a queue.
-- Who lacks a process is known from the recorder, which looks every five seconds (recording/may_run.sql): they can run within their own
-- limits, and have waited for five seconds. Each job of the pool that was claimed since that look may be one of them. A look that is old says nothing.
WITH
-- include shared/clock
mine AS MATERIALIZED (
    SELECT j.id, j.attempt, j.worker_pid, j.tenant_id, j.queue_id, j.source_type, j.source_method, j.start_time, q.pool, q.paused
    FROM unnest(%(ids)s::bigint[]) AS asked (id)
    JOIN jobs j ON j.id = asked.id
    JOIN queues q ON q.id = j.queue_id
    WHERE j.status = 'running'  -- guard
      AND j.worker = %(worker)s::uuid  -- guard
),
lacking AS MATERIALIZED (
    SELECT p.pool, (r.late -> p.pool ->> 'jobs')::int - (
        SELECT count(*)::int FROM jobs j JOIN queues q ON q.id = j.queue_id
        WHERE j.slot IS NOT NULL AND j.queued_at > r.at AND q.pool = p.pool  -- guard
    ) AS jobs
    FROM (SELECT DISTINCT pool FROM mine) p CROSS JOIN clock CROSS JOIN recorded r
    WHERE r.task = 'may run'
      AND r.late ? p.pool
      AND r.at > clock.now - interval '15 seconds'  -- guard
),
-- All that a tenant holds. nth: among those that make checkpoints, the latest first; of_pool: in this pool.
held AS MATERIALIZED (
    SELECT o.id, t.paused, count(*) OVER tenant AS n, t.num_slots,
        CASE WHEN t.num_slots > 0 THEN greatest(t.num_slots, t.burst_slots) ELSE 0 END AS most,
        row_number() OVER (PARTITION BY o.tenant_id, o.stops ORDER BY o.start_time DESC, o.id DESC) AS nth,
        row_number() OVER (PARTITION BY o.tenant_id, o.stops, o.pool ORDER BY o.start_time DESC, o.id DESC) AS of_pool
    FROM (SELECT DISTINCT tenant_id FROM mine) m
    JOIN tenant_queues t ON t.tenant_id = m.tenant_id
    CROSS JOIN LATERAL (
        SELECT j.id, j.tenant_id, j.start_time, q.pool, j.status = 'running' AND j.cursor IS NOT NULL AS stops
        FROM jobs j JOIN queues q ON q.id = j.queue_id
        WHERE j.tenant_id = m.tenant_id AND j.slot IS NOT NULL
    ) o
    WINDOW tenant AS (PARTITION BY o.tenant_id)
),
asked AS MATERIALIZED (
    SELECT m.*, l.jobs,
        CASE
            WHEN EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = m.source_type AND p.source_method = m.source_method) THEN 'type_paused'
            WHEN m.paused THEN 'queue_paused'
            WHEN h.paused THEN 'tenant_paused'
            WHEN h.nth <= h.n - h.most THEN 'slots'
            WHEN h.of_pool <= least(h.n - h.num_slots, coalesce(l.jobs, 0)) THEN 'borrowed'
        END AS why
    FROM mine m
    LEFT JOIN held h ON h.id = m.id
    LEFT JOIN lacking l ON l.pool = m.pool
)
SELECT
    m.id, m.attempt, m.worker_pid AS pid, m.source_type, m.source_method, m.pool, extract(epoch FROM clock.now - m.start_time)::float8 AS seconds,
    -- Of all tenants that borrow no more than lack a process, the latest first.
    CASE
        WHEN why <> 'borrowed' OR row_number() OVER (PARTITION BY m.pool, why ORDER BY m.start_time DESC, m.id DESC) <= m.jobs
        THEN why
    END AS why,
    CASE WHEN m.jobs > 0 AND EXISTS (
        SELECT FROM queues q CROSS JOIN LATERAL (
            SELECT tenant_id FROM lanes WHERE state = 'ready' AND queue_id = q.id ORDER BY position LIMIT 2
        ) lane
        WHERE q.pool = m.pool
          AND NOT q.paused  -- guard
          AND (q.id, lane.tenant_id) <> (m.queue_id, m.tenant_id)  -- guard
    ) THEN m.jobs ELSE 0 END AS others
FROM asked m CROSS JOIN clock
