-- Reads:  one job, and beside it every limit that may hold it, used and allowed. Changes nothing, locks nothing.
-- Who:    explain: its tenant (tenant given), or an operator (null).
-- Index:  primary key; jobs_one_job_per_slot for what is held. Never a scan of the waiting jobs.
-- The formulas of claim.sql, for one job instead of all lanes: change both. What is free, is counted there in the same way:
-- `held` by slot, a pool's processes by live workers plus head-room, the tokens of a bucket by the moment it is full.
WITH clock AS (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now),
job AS MATERIALIZED (
    SELECT * FROM jobs
    WHERE id = %(id)s
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
),
held AS (
    SELECT
        count(*) FILTER (WHERE h.tenant_id = job.tenant_id) AS by_tenant,
        count(*) FILTER (WHERE h.tenant_id = job.tenant_id AND h.user_key = job.user_key) AS by_user,
        count(*) FILTER (WHERE h.queue_id = job.queue_id) AS by_queue,
        count(*) FILTER (WHERE q.pool = mine.pool) AS by_pool
    FROM job
    JOIN queues mine ON mine.id = job.queue_id
    CROSS JOIN jobs h
    JOIN queues q ON q.id = h.queue_id
    WHERE h.slot IS NOT NULL
)
SELECT
    job.id, job.status, job.attempt, job.retries, job.max_retries, job.last_error, job.user_key,
    job.source_type, job.source_method, job.slot, job.progress, job.cancel_requested_at IS NOT NULL AS stopping,
    job.created_at, job.due_at, job.ready_at, job.queued_at, job.handed_at, job.start_time, job.end_time,
    clock.now,
    EXISTS (
        SELECT FROM failed_attempts f WHERE f.job_id = job.id AND f.attempt = job.attempt
    ) AS last_attempt_failed,
    EXISTS (
        SELECT FROM paused_job_types p WHERE p.source_type = job.source_type AND p.source_method = job.source_method
    ) AS type_paused,
    runner.name AS worker,
    tenant.name AS tenant, tq.paused AS tenant_paused, tq.num_slots, tq.user_slots,
    held.by_tenant AS tenant_held, held.by_user AS user_held,
    tq.rate_limit AS tenant_rate_limit, tq.rate_window AS tenant_rate_window,
    tenant_bucket.tokens AS tenant_tokens, tenant_bucket.next_at AS tenant_token_at,
    q.name AS queue, q.paused AS queue_paused, q.concurrency AS queue_concurrency, q.default_max_retries,
    held.by_queue AS queue_held,
    q.rate_limit AS queue_rate_limit, q.rate_window AS queue_rate_window,
    queue_bucket.tokens AS queue_tokens, queue_bucket.next_at AS queue_token_at,
    q.pool, pool.processes + %(headroom)s AS pool_capacity, pool.processes AS pool_processes, held.by_pool AS pool_held
FROM job
CROSS JOIN clock
CROSS JOIN held
JOIN queues q ON q.id = job.queue_id
JOIN tenants_tenant tenant ON tenant.id = job.tenant_id
LEFT JOIN tenant_queues tq ON tq.tenant_id = job.tenant_id
LEFT JOIN tenant_turns tenant_turn ON tenant_turn.tenant_id = job.tenant_id
LEFT JOIN queue_turns queue_turn ON queue_turn.queue_id = job.queue_id
LEFT JOIN workers runner ON runner.id = job.worker
CROSS JOIN LATERAL (
    SELECT coalesce(sum(w.concurrency), 0) AS processes
    FROM workers w
    WHERE w.pool = q.pool
      AND w.gone_at IS NULL
      AND w.beat_at > clock.now - %(live_for)s * interval '1 second'
) pool
CROSS JOIN LATERAL (
    SELECT CASE WHEN extract(epoch FROM queue_turn.full_at - clock.now) < 2 * q.rate_window THEN queue_turn.full_at END
        AS full_at
) queue_spent
CROSS JOIN LATERAL (
    SELECT
        floor(
            q.rate_limit
            - greatest(coalesce(extract(epoch FROM queue_spent.full_at - clock.now) - 0.0000005, 0), 0)
            * q.rate_limit / q.rate_window
        ) AS tokens,
        queue_spent.full_at - (q.rate_limit - 1) * q.rate_window / q.rate_limit * interval '1 second' AS next_at
) queue_bucket
CROSS JOIN LATERAL (
    SELECT CASE WHEN extract(epoch FROM tenant_turn.full_at - clock.now) < 2 * tq.rate_window THEN tenant_turn.full_at END
        AS full_at
) tenant_spent
CROSS JOIN LATERAL (
    SELECT
        floor(
            tq.rate_limit
            - greatest(coalesce(extract(epoch FROM tenant_spent.full_at - clock.now) - 0.0000005, 0), 0)
            * tq.rate_limit / tq.rate_window
        ) AS tokens,
        tenant_spent.full_at - (tq.rate_limit - 1) * tq.rate_window / tq.rate_limit * interval '1 second' AS next_at
) tenant_bucket
