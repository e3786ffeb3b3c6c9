-- Reads:  one job, and the use and the value of every limit that may hold it up. Changes nothing, locks nothing.
-- Who:    explain: its tenant (tenant given), or an operator (null).
-- Index:  primary keys; the newest versions of the books. It reads neither the waiting jobs nor, beyond the books, what runs.
WITH
-- include shared/present
job AS MATERIALIZED (
    SELECT * FROM all_jobs
    WHERE id = %(id)s
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
),
-- include shared/own_use
held AS MATERIALIZED (  -- by which job its lane, and its queue (tenant 0); a tenant does not learn of a job of another one
    SELECT DISTINCT ON (h.tenant_id) h.tenant_id, json_build_object(
        'seconds', extract(epoch FROM h.until - clock.now)::float8, 'job_id', CASE WHEN own THEN h.job_id END, 'why', CASE WHEN own THEN h.why ELSE '' END
    )::text AS said
    FROM job
    CROSS JOIN clock
    JOIN holds h ON h.queue_id = job.queue_id AND h.tenant_id IN (0, job.tenant_id)
    CROSS JOIN LATERAL (SELECT coalesce(h.owner_id = %(tenant_id)s::bigint, true) AS own) asked
    ORDER BY h.tenant_id, h.until DESC
),
slots AS (
    SELECT u.n AS by_tenant, coalesce((u.users ->> job.user_key)::int, 0) AS by_user,
        coalesce((
            SELECT in_use FROM lanes l WHERE l.tenant_id = job.tenant_id AND l.queue_id = job.queue_id ORDER BY version DESC LIMIT 1
        ), 0) - (
            SELECT count(*) FROM given_back g WHERE g.tenant_id = job.tenant_id AND g.queue_id = job.queue_id
        )::int AS by_lane
    FROM job JOIN own_use u USING (tenant_id)
)
SELECT
    job.id, job.status, job.attempt, job.retries, job.max_retries, job.last_error, job.user_key,
    job.source_type, job.source_method, job.slot, job.progress, job.cancel_requested_at IS NOT NULL AS stopping,
    job.dedup_key IS NOT DISTINCT FROM %(erased)s AS erased, job.handed_back, job.handed_back_why,
    job.created_at, job.due_at, job.ready_at, job.expires_at, job.sequence, job.sequence_stops, job.reason, job.queued_at, job.handed_at, job.start_time, job.end_time,
    clock.now,
    CASE WHEN jsonb_typeof(job.args -> 'calls') = 'array' THEN jsonb_array_length(job.args -> 'calls') END AS calls,
    EXISTS (
        SELECT FROM failed_attempts f WHERE f.job_id = job.id AND f.attempt = job.attempt
    ) AS last_attempt_failed,
    EXISTS (
        SELECT FROM paused_job_types p WHERE p.source_type = job.source_type AND p.source_method = job.source_method
    ) AS type_paused,
    (
        SELECT jsonb_agg(jsonb_build_array(
            b.unit, coalesce((bucket.used -> month_of(clock.now) ->> b.unit)::numeric, 0), tq.budgets -> b.unit
        ) ORDER BY b.unit)
        FROM spent_budgets b WHERE b.tenant_id = job.tenant_id AND b.unit = ANY(job.spends)
    )::text AS spent,
    (
        SELECT b.id FROM jobs j JOIN jobs b ON b.id = j.behind WHERE j.id = job.id AND b.status = 'running'
    ) AS behind,
    (SELECT j.waits_for FROM jobs j WHERE j.id = job.id) AS waits_for,
    (SELECT j.blocked_at FROM jobs j WHERE j.id = job.id) AS blocked_at,
    runner.name AS worker,
    q.default_max_retries, q.default_backoff, q.backoff_grows, tenant.name AS tenant_name, q.name AS queue_name,
    EXISTS (SELECT FROM pools p WHERE p.name = q.pool AND p.kind = 'light') AS pool_is_light,
    slots.by_lane AS lane_in_use,
    (SELECT lane.said FROM held lane WHERE lane.tenant_id = job.tenant_id) AS lane_hold,
    (SELECT whole.said FROM held whole WHERE whole.tenant_id = 0) AS queue_hold,
    (coalesce(limits_of(to_jsonb(tq)), '{}') || jsonb_build_object(
        'id', job.tenant_id, 'full_at', extract(epoch FROM bucket.full_at - clock.now)::float8,
        'in_use', slots.by_tenant, 'users', json_build_object(job.user_key, slots.by_user)
    ))::text AS tenant,
    (limits_of(to_jsonb(q)) - 'pool' || jsonb_build_object(
        'id', q.id, 'full_at', extract(epoch FROM q.full_at - clock.now)::float8, 'in_use', q.in_use
    ))::text AS queue,
    json_build_object('name', q.pool, 'processes', q.pool_capacity, 'in_use', q.pool_in_use)::text AS pool
FROM job
CROSS JOIN clock
CROSS JOIN slots
JOIN queue_state q ON q.id = job.queue_id
JOIN tenants_tenant tenant ON tenant.id = job.tenant_id
LEFT JOIN tenant_queues tq ON tq.tenant_id = job.tenant_id
LEFT JOIN workers runner ON runner.id = job.worker
LEFT JOIN LATERAL (
    SELECT b.used, rate_full_at(tq.rate_limit, tq.rate_window, b.full_at, b.full_limit, b.full_window, clock.now) AS full_at
    FROM tenant_books b WHERE b.tenant_id = job.tenant_id ORDER BY version DESC LIMIT 1
) bucket ON true
