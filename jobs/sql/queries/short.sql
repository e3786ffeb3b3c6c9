-- name: queue_statistics
-- Reads:  the attempts of all tenants that ended since a minute, by queue, job type and outcome.
-- Who:    operators. Locks:  none. Index: the primary key of job_minutes.
SELECT
    q.name AS queue, m.source_type, m.source_method, m.outcome,
    sum(m.attempts)::bigint AS attempts, sum(m.run_seconds) AS run_seconds,
    sum(m.targeted)::bigint AS targeted, sum(m.in_time)::bigint AS in_time,
    -- include shared/times_added
FROM job_minutes m
JOIN queues q ON q.id = m.queue_id
WHERE m.minute >= %(since)s::timestamptz
GROUP BY q.name, m.source_type, m.source_method, m.outcome

-- name: tenant_statistics
-- Reads:  the attempts of a tenant that ended since an hour, by queue, job type and outcome. Who: the tenant, and operators.
-- Locks:  none. Index: the primary key of tenant_hours.
SELECT
    q.name AS queue, h.source_type, h.source_method, h.outcome,
    sum(h.attempts)::bigint AS attempts, sum(h.run_seconds) AS run_seconds,
    sum(h.targeted)::bigint AS targeted, sum(h.in_time)::bigint AS in_time,
    -- include shared/times_added
FROM tenant_hours h
JOIN queues q ON q.id = h.queue_id
WHERE h.hour >= %(since)s::timestamptz
  AND h.tenant_id = %(tenant_id)s  -- guard I8
GROUP BY q.name, h.source_type, h.source_method, h.outcome

-- name: tenant_targets
-- Reads:  of each queue with a wait target: the attempts of a tenant that had one, and those that kept it; since a moment, and since a day
--         (UTC). What the hours have found of a closed day since then is left out until the next one is closed.
-- Who:    the tenant. Locks: none. Index: the primary keys.
WITH
open AS (SELECT greatest(max(day) + 1, %(day)s::date)::timestamp AT TIME ZONE 'UTC' AS since FROM closed_days),
counted AS (
    SELECT queue_id, targeted, in_time, 0 AS targeted_lately, 0 AS in_time_lately
    FROM usage_days
    WHERE day >= %(day)s::date AND targeted > 0
      AND tenant_id = %(tenant_id)s  -- guard I8
    UNION ALL
    SELECT queue_id,
        CASE WHEN hour >= open.since THEN targeted ELSE 0 END, CASE WHEN hour >= open.since THEN in_time ELSE 0 END,
        CASE WHEN hour >= %(since)s::timestamptz THEN targeted ELSE 0 END, CASE WHEN hour >= %(since)s::timestamptz THEN in_time ELSE 0 END
    FROM tenant_hours CROSS JOIN open
    WHERE hour >= least(open.since, %(since)s::timestamptz) AND targeted > 0
      AND tenant_id = %(tenant_id)s  -- guard I8
)
SELECT
    q.name AS queue, q.wait_target AS seconds, sum(targeted_lately)::bigint AS targeted_lately, sum(in_time_lately)::bigint AS in_time_lately,
    sum(targeted)::bigint AS targeted, sum(in_time)::bigint AS in_time
FROM counted JOIN queues q ON q.id = counted.queue_id
WHERE q.wait_target IS NOT NULL
GROUP BY q.id
HAVING sum(targeted) > 0
ORDER BY q.name

-- name: queue_targets
-- Reads:  of each queue with a wait target: the attempts of all tenants that had one, and those that kept it; since a moment, and since a
--         day (UTC). Who: operators. Locks: none. Index: the primary keys; the closed days of a month, and the minutes since the last one.
WITH
open AS (SELECT greatest(max(day) + 1, %(day)s::date)::timestamp AT TIME ZONE 'UTC' AS since FROM closed_days),
counted AS (
    SELECT one.key::bigint AS queue_id, (one.value ->> 0)::bigint AS targeted, (one.value ->> 1)::bigint AS in_time,
        0 AS targeted_lately, 0 AS in_time_lately
    FROM closed_days CROSS JOIN jsonb_each(kept) one
    WHERE day >= %(day)s::date
    UNION ALL
    SELECT queue_id,
        CASE WHEN minute >= open.since THEN targeted ELSE 0 END, CASE WHEN minute >= open.since THEN in_time ELSE 0 END,
        CASE WHEN minute >= %(since)s::timestamptz THEN targeted ELSE 0 END, CASE WHEN minute >= %(since)s::timestamptz THEN in_time ELSE 0 END
    FROM job_minutes CROSS JOIN open
    WHERE minute >= least(open.since, %(since)s::timestamptz) AND targeted > 0
)
SELECT
    q.name AS queue, q.wait_target AS seconds,
    coalesce(sum(targeted_lately), 0)::bigint AS targeted_lately, coalesce(sum(in_time_lately), 0)::bigint AS in_time_lately,
    coalesce(sum(targeted), 0)::bigint AS targeted, coalesce(sum(in_time), 0)::bigint AS in_time
FROM queues q LEFT JOIN counted ON q.id = counted.queue_id
WHERE q.wait_target IS NOT NULL
GROUP BY q.id
ORDER BY q.name

-- name: jobs_under_way
-- Reads:  the jobs of a tenant that have not ended, by status and queue: their number, counted up to `most` of each kind (of the ready ones
--         in each queue), and the first `shown` ids: of ready jobs in the order of their lane, of scheduled ones by their moment.
-- Who:    the page of its members. Locks: none.
-- Index:  jobs_claim in each queue, jobs_scheduled_of_tenant, jobs_blocked_of_tenant, jobs_one_job_per_slot.
SELECT j.status, j.queue_id, count(*) AS jobs, (array_agg(j.id ORDER BY j.rank, j.id))[1:%(shown)s::int] AS ids
FROM (
    SELECT ready.* FROM queues line CROSS JOIN LATERAL (
        SELECT status, queue_id, id, priority::float8 AS rank FROM jobs
        WHERE ready_at IS NOT NULL AND queue_id = line.id
          AND tenant_id = %(tenant_id)s  -- guard I8
        ORDER BY priority, id
        LIMIT %(most)s
    ) ready
    UNION ALL
    (
        SELECT status, queue_id, id, extract(epoch FROM due_at)::float8 FROM jobs
        WHERE due_at IS NOT NULL
          AND tenant_id = %(tenant_id)s  -- guard I8
        LIMIT %(most)s
    )
    UNION ALL
    (
        SELECT status, queue_id, id, 0 FROM jobs
        WHERE blocked_at IS NOT NULL
          AND tenant_id = %(tenant_id)s  -- guard I8
        LIMIT %(most)s
    )
    UNION ALL
    SELECT status, queue_id, id, 0 FROM jobs
    WHERE slot IS NOT NULL
      AND tenant_id = %(tenant_id)s  -- guard I8
) j
GROUP BY j.status, j.queue_id
ORDER BY min(j.rank), min(j.id)
