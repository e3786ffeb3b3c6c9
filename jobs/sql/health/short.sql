-- name: health_budgets
-- Reads:  the budgets of which much, or all, is used in the present month. Who: health. Locks: none.
-- Index:  the newest version of each book; all of tenant_queues.
WITH
-- include shared/clock
part AS (SELECT b.* FROM clock CROSS JOIN budgets_at(clock.now) b)
SELECT t.slug AS tenant, b.unit, b.used, b.amount
FROM part b JOIN tenants_tenant t ON t.id = b.tenant_id
WHERE b.used >= %(low)s::float8 * b.amount  -- guard
ORDER BY b.used / b.amount::float8 DESC, t.slug, b.unit
LIMIT %(most)s

-- name: health_predictions
-- Reads:  how often the predictions of starts were right, and by how much they missed; of the last day, and of the last hour.
--         loss: the pinball loss, which is least on average for the true quantile. Who: health, metrics, the recorder. Locks: none.
-- Index:  predictions_by_time; some 17,000 rows.
WITH
-- include shared/clock
said AS (
    SELECT p.*, p.made_at > clock.now - interval '1 hour' AS lately, coalesce(p.raw_90 < 'Infinity', false) AS finite
    FROM predictions p CROSS JOIN clock
    WHERE p.made_at > clock.now - interval '1 day'
)
SELECT
    count(*)::int AS predictions,
    count(*) FILTER (WHERE NOT finite)::int AS unsaid,
    count(held_50)::int AS known_50,
    count(*) FILTER (WHERE held_50)::int AS held_50,
    count(held_90)::int AS known_90,
    count(*) FILTER (WHERE held_90)::int AS held_90,
    count(held_90) FILTER (WHERE lately)::int AS known_lately,
    count(*) FILTER (WHERE held_90 AND lately)::int AS held_lately,
    avg(greatest(0.5 * (started - said_50), 0.5 * (said_50 - started)))::float8 AS loss_50,
    avg(greatest(0.9 * (started - said_90), 0.1 * (said_90 - started)))::float8 AS loss_90,
    avg(greatest(0.5 * (started - ahead_50), 0.5 * (ahead_50 - started)))::float8 AS ahead_50,
    avg(greatest(0.9 * (started - ahead_90), 0.1 * (ahead_90 - started)))::float8 AS ahead_90,
    avg(greatest(0.5 * (started - past_50), 0.5 * (past_50 - started)))::float8 AS past_50,
    avg(greatest(0.9 * (started - past_90), 0.1 * (past_90 - started)))::float8 AS past_90
FROM said

-- name: health_forecasts
-- Reads:  the number of all predictions, by the reason for which p50 or p90 is missing (empty: both are there); the age of the
--         forecasts in seconds, by pool; the seconds that the last forecast took. Who: metrics. Locks: none.
-- Index:  all of prediction_totals; the primary keys: the forecasts, one of each lane with jobs in line.
WITH
-- include shared/clock
ages AS (
    SELECT q.pool, extract(epoch FROM clock.now - max(f.made_at))::float8 AS age
    FROM forecasts f JOIN queues q ON q.id = f.queue_id CROSS JOIN clock
    GROUP BY q.pool, clock.now
)
SELECT
    (SELECT coalesce(json_object_agg(reason, predictions ORDER BY reason), '{}') FROM prediction_totals)::text,
    (SELECT coalesce(json_object_agg(pool, age ORDER BY pool), '{}') FROM ages)::text,
    (SELECT seconds FROM recorded WHERE task = 'forecast')

-- name: health_quiet
-- Reads:  of these pools, those in which no attempt has begun for so long: the seconds since the last one has, and the job types
--         that run there, each with its method. Who: health and metrics, if a pool is full. Locks: none. Index: jobs_one_job_per_slot.
-- A job that is about to start counts as one that has just begun.
WITH
-- include shared/clock
begun AS (
    SELECT
        q.pool, min(extract(epoch FROM clock.now - CASE WHEN j.status = 'running' THEN j.start_time ELSE clock.now END))::float8 AS seconds,
        array_agg(DISTINCT ARRAY[j.source_type, j.source_method]) AS types
    FROM jobs j JOIN queues q ON q.id = j.queue_id CROSS JOIN clock
    WHERE j.slot IS NOT NULL
      AND q.pool = ANY(%(pools)s::text[])  -- guard
    GROUP BY q.pool
)
SELECT pool, seconds, types FROM begun
WHERE seconds > %(quiet)s::float8  -- guard

-- name: health_server
-- Reads:  whether a clock leads; the seconds since the recorder last looked at these tasks (null: never); the seconds of the oldest
--         transaction of this database; connections, and their tightest limit: the server's, the database's or the login role's;
--         the jobs whose message no process has taken up for too long; the dead letters, up to a number; the replication slot
--         for which the server keeps most of its log, and how many bytes. Who: health and metrics. Locks: none.
-- Index:  jobs_one_job_per_slot, jobs_dead. It sees the kind and the transaction of other roles' sessions only with that privilege.
WITH
-- include shared/clock
sessions AS MATERIALIZED (
    SELECT pid, datname, usename, xact_start FROM pg_stat_activity
    WHERE coalesce(backend_type, 'client backend') = 'client backend' AND usename IS NOT NULL
),
bounds AS (
    SELECT (SELECT count(*) FROM sessions), current_setting('max_connections')::int AS most
    UNION ALL
    SELECT (SELECT count(*) FROM sessions s WHERE s.datname = d.datname), datconnlimit
    FROM pg_database d WHERE datname = current_database()
    UNION ALL
    SELECT (SELECT count(*) FROM sessions WHERE usename = rolname), rolconnlimit
    FROM pg_roles WHERE rolname = session_user
),
tightest AS (
    SELECT count::int AS connections, most AS max_connections FROM bounds
    WHERE most > 0
    ORDER BY count::float8 / most DESC
    LIMIT 1
),
slots AS (  -- of all databases: their disk is one
    SELECT
        slot_name::text AS kept_for,
        pg_wal_lsn_diff(
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn
        )::bigint AS kept_log
    FROM pg_replication_slots
    WHERE restart_lsn IS NOT NULL
    ORDER BY kept_log DESC
    LIMIT 1
)
SELECT
    clock.now,
    EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())  -- guard
          AND classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid AND objid = 0 AND objsubid = 2
    ) AS clock_leads,
    (
        SELECT extract(epoch FROM clock.now - min(at))::float8 FROM recorded
        WHERE task = ANY(%(tasks)s::text[])  -- guard
    ) AS recorder_age,
    coalesce((
        SELECT extract(epoch FROM clock.now - min(xact_start))::float8 FROM sessions
        WHERE datname = current_database() AND pid <> pg_backend_pid()  -- guard
    ), 0) AS oldest_transaction,
    tightest.connections,
    tightest.max_connections,
    (
        SELECT count(*)::int FROM jobs j
        WHERE j.slot IS NOT NULL
          AND j.status = 'queued'  -- guard
          AND j.queued_at < clock.now - %(patience)s * interval '1 second'  -- guard
    ) AS untaken,
    (SELECT count(*)::int FROM (SELECT FROM jobs WHERE died_at IS NOT NULL LIMIT %(most)s) dead) AS dead,
    coalesce(slots.kept_for, '') AS kept_for,
    coalesce(slots.kept_log, 0) AS kept_log
FROM clock CROSS JOIN tightest LEFT JOIN slots ON true

-- name: health_shares
-- Reads:  the tenants that got less than this part of what they were entitled to (more than `judged` seconds), both in about the last 5 minutes and in
--         about the last hour; those that lack most first, at most `most`. `is_short` in jobs/reading/shares.py decides.
-- Who:    health and metrics. Locks: none. Index: all of tenant_shares, which has tenants with work in the last hours.
SELECT tenant_id
FROM tenant_shares
WHERE got < entitled * %(share)s::float8
  AND got_hour < entitled_hour * %(share)s::float8
  AND entitled > %(judged)s::float8
ORDER BY entitled_hour - got_hour DESC, tenant_id
LIMIT %(most)s

-- name: health_targets
-- Reads:  of each queue with a wait target: the attempts that had one when they started, and those that kept it; in each of the last
--         `windows` minutes. Who: health and metrics. Locks: none. Index: the primary key of job_minutes, six hours of it.
WITH
-- include shared/clock
lately AS (
    SELECT m.queue_id, m.minute, sum(m.targeted) AS targeted, sum(m.in_time) AS in_time
    FROM job_minutes m CROSS JOIN clock
    WHERE m.minute >= clock.now - (SELECT max(minutes) FROM unnest(%(windows)s::int[]) minutes) * interval '1 minute'
      AND m.targeted > 0
    GROUP BY m.queue_id, m.minute
)
SELECT q.name, q.wait_target, w.minutes, sum(l.targeted)::int, sum(l.in_time)::int
FROM lately l
JOIN queues q ON q.id = l.queue_id AND q.wait_target IS NOT NULL
CROSS JOIN clock
CROSS JOIN unnest(%(windows)s::int[]) AS w (minutes)
WHERE l.minute >= clock.now - w.minutes * interval '1 minute'
GROUP BY q.id, w.minutes
ORDER BY q.name, w.minutes

-- name: health_totals
-- Reads:  the numbers that only grow, of each queue, job type and outcome. Who: metrics. Locks: none. Index: all of totals.
SELECT
    coalesce(q.name, 'queue ' || t.queue_id) AS queue, t.source_type, t.source_method, t.outcome,
    t.attempts, t.run_seconds, t.run_buckets, t.wait_buckets, t.wait_seconds, t.process_wait_buckets, t.process_wait_seconds,
    t.targeted, t.in_time
FROM totals t LEFT JOIN queues q ON q.id = t.queue_id
ORDER BY 1, 2, 3, 4

-- name: health_webhooks
-- Reads:  the endpoints that are on; that fail; that have failed for `long` seconds; that are off; the messages that wait, counted to
--         `most` of each endpoint, and the seconds since the job of the first one ended. Who: health and metrics. Locks: none.
-- Index:  all of webhook_endpoints; the key of webhook_messages.
WITH RECURSIVE
-- include shared/clock
-- include shared/outbox
outbox AS (
    SELECT sum(each.messages)::int AS messages, min(each.ended_at) AS ended_at
    FROM waits
    JOIN webhook_endpoints e ON e.id = waits.endpoint_id AND e.off_at IS NULL
    CROSS JOIN LATERAL (
        SELECT count(*) AS messages, min(m.ended_at) AS ended_at
        FROM (
            SELECT * FROM webhook_messages one WHERE one.endpoint_id = waits.endpoint_id ORDER BY one.event LIMIT %(most)s
        ) m
    ) each
)
SELECT
    count(e.id) FILTER (WHERE e.off_at IS NULL AND e.failing_since IS NULL)::int AS working,
    count(e.id) FILTER (WHERE e.off_at IS NULL AND e.failing_since IS NOT NULL)::int AS failing,
    count(e.id) FILTER (
        WHERE e.off_at IS NULL AND e.failing_since < clock.now - %(long)s * interval '1 second'
    )::int AS failing_long,
    count(e.id) FILTER (WHERE e.off_at IS NOT NULL)::int AS off,
    coalesce((SELECT messages FROM outbox), 0) AS waiting,
    coalesce(extract(epoch FROM clock.now - (SELECT ended_at FROM outbox)), 0)::float8 AS oldest
FROM clock LEFT JOIN webhook_endpoints e ON true
GROUP BY clock.now
