-- name: look_counts
-- Reads:  how many jobs are scheduled, held, dead, died in the last day, and ended in the last minute; each counted up to
--         `most`. And the paused job types, in one order: their names, and since when.
-- Who:    the operators' pages. Locks: none. Index: jobs_due, jobs_dead, jobs_ended.
WITH clock AS (SELECT clock_timestamp() AS now),
ended AS MATERIALIZED (
    SELECT j.status FROM clock CROSS JOIN LATERAL (
        SELECT status FROM jobs
        WHERE end_time IS NOT NULL AND died_at IS NULL AND end_time > clock.now - interval '1 minute'
        ORDER BY end_time DESC LIMIT %(most)s
    ) j
)
SELECT
    clock.now,
    (
        SELECT count(*)::int FROM (
            SELECT FROM jobs WHERE due_at IS NOT NULL AND due_at < %(held_until)s ORDER BY due_at LIMIT %(most)s
        ) j
    ) AS scheduled,
    (
        SELECT count(*)::int FROM (
            SELECT FROM jobs WHERE due_at IS NOT NULL AND due_at >= %(held_until)s ORDER BY due_at LIMIT %(most)s
        ) j
    ) AS held,
    (
        SELECT count(*)::int FROM (SELECT FROM jobs WHERE died_at IS NOT NULL ORDER BY died_at DESC LIMIT %(most)s) j
    ) AS dead,
    (
        SELECT count(*)::int FROM (
            SELECT FROM jobs WHERE died_at IS NOT NULL AND died_at > clock.now - interval '1 day'
            ORDER BY died_at DESC LIMIT %(most)s
        ) j
    ) AS died_today,
    (
        SELECT count(*)::int FROM (
            SELECT FROM jobs WHERE died_at IS NOT NULL AND died_at > clock.now - interval '1 minute'
            ORDER BY died_at DESC LIMIT %(most)s
        ) j
    ) AS died_now,
    (SELECT count(*)::int FROM ended WHERE status = 'success') AS succeeded_now,
    (SELECT count(*)::int FROM ended WHERE status = 'error') AS failed_now,
    (SELECT count(*)::int FROM ended WHERE status = 'cancelled') AS cancelled_now,
    ARRAY(SELECT source_type || '.' || source_method FROM paused_job_types ORDER BY id) AS paused_types,
    ARRAY(SELECT paused_at FROM paused_job_types ORDER BY id) AS paused_since
FROM clock

-- name: look_day
-- Reads:  the attempts of these tenants that ended, by hour and outcome, and the histogram of how long they had waited.
-- Who:    the operators' page of tenants, kept for half a minute. Locks: none. Index: the primary key of tenant_hours.
SELECT tenant_id, hour, outcome, sum(attempts)::bigint,
-- include shared/waits_added
FROM tenant_hours
WHERE tenant_id = ANY(%(ids)s::bigint[]) AND hour >= %(since)s::timestamptz
GROUP BY tenant_id, hour, outcome

-- name: look_failing
-- Reads:  the attempts that ended, by job type and outcome; not how long they took, which would take ten times as long.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of job_minutes.
SELECT source_type, source_method, outcome, sum(attempts)::bigint
FROM job_minutes
WHERE minute >= %(since)s::timestamptz AND minute < %(until)s::timestamptz
GROUP BY source_type, source_method, outcome

-- name: look_full
-- Reads:  the minutes in which tenants were full, since an hour began, of all that were. Who: the operators' page of tenants,
--         kept for half a minute. Locks: none. Index: the primary key.
SELECT tenant_id, sum(minutes)::int FROM full_hours WHERE hour >= %(since)s::timestamptz GROUP BY tenant_id

-- name: look_held_types
-- Reads:  how many jobs of each type are held, since the type is paused; among the first `most` held jobs.
-- Who:    the operators' pages. Locks: none. Index: jobs_due.
SELECT source_type, source_method, count(*)::int
FROM (
    SELECT source_type, source_method FROM jobs
    WHERE due_at IS NOT NULL AND due_at >= %(held_until)s
    ORDER BY due_at LIMIT %(most)s
) held
GROUP BY source_type, source_method

-- name: look_hours
-- Reads:  the attempts of a tenant that ended, by hour and outcome, and the histogram of how long they had waited.
-- Who:    the operators' page of that tenant. Locks: none. Index: the primary key of tenant_hours.
SELECT hour AS at, outcome, sum(attempts)::bigint AS attempts,
-- include shared/waits_added
FROM tenant_hours
WHERE tenant_id = %(tenant_id)s AND hour >= %(since)s::timestamptz
GROUP BY hour, outcome
ORDER BY hour

-- name: look_marks
-- Reads:  what a chart of this period marks, the latest `most` of each kind. Of the audit log: marks, limits and pauses; and bulk
--         actions; of a tenant its own, and those about no tenant. And the starts and losses of workers that are not long gone.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: changes_of_one; changes_of_runs; all workers.
(
    SELECT at, who, verb, kind, subject, values::text AS values, bulk
    FROM changes
    WHERE kind = ANY(%(kinds)s::text[])
      AND verb = ANY(%(verbs)s::text[])
      AND at >= %(since)s::timestamptz
      AND at < %(until)s::timestamptz
      AND (%(tenant_id)s::bigint IS NULL OR tenant_id IS NULL OR tenant_id = %(tenant_id)s)
    ORDER BY at DESC
    LIMIT %(most)s
)
UNION ALL
(
    SELECT at, who, verb, kind, subject, values::text AS values, bulk
    FROM changes
    WHERE bulk IS NOT NULL
      AND at >= %(since)s::timestamptz
      AND at < %(until)s::timestamptz
      AND (%(tenant_id)s::bigint IS NULL OR tenant_id = %(tenant_id)s)
    ORDER BY id DESC
    LIMIT %(most)s
)
UNION ALL
(
    SELECT event.at, '', event.verb, 'jobs.worker', w.name, '{}', NULL
    FROM workers w
    CROSS JOIN LATERAL (VALUES (w.started_at, 'started'), (CASE WHEN w.lost THEN w.gone_at END, 'lost')) event (at, verb)
    WHERE event.at >= %(since)s::timestamptz
      AND event.at < %(until)s::timestamptz
    ORDER BY event.at DESC
    LIMIT %(most)s
)

-- name: look_minutes
-- Reads:  the attempts that ended, by step of time and outcome, and the histogram of how long they had waited.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of job_minutes.
SELECT date_bin(%(step)s::interval, minute, %(since)s::timestamptz) AS at, outcome,
    sum(attempts)::bigint AS attempts,
    -- include shared/waits_added
FROM job_minutes
WHERE minute >= %(since)s::timestamptz AND minute < %(until)s::timestamptz
GROUP BY 1, outcome
ORDER BY 1

-- name: look_longest
-- Reads:  the running jobs of each worker that began first, `each` of every worker, `most` of all.
-- Who:    the operators' page of workers. Locks: none. Index: jobs_one_job_per_slot.
SELECT id
FROM (
    SELECT id, start_time, row_number() OVER (PARTITION BY worker ORDER BY start_time, id) AS place
    FROM jobs
    WHERE slot IS NOT NULL
      AND worker IS NOT NULL
) running
WHERE place <= %(each)s
ORDER BY place, start_time, id
LIMIT %(most)s

-- name: look_running
-- Reads:  the running jobs of each worker by type, the types with most of them first: how many, of how many tenants, since when, and
--         when the time limits end the last of them. Who: the operators' page of workers. Locks: none. Index: jobs_one_job_per_slot.
SELECT
    j.worker,
    j.source_type || '.' || j.source_method AS job_type,
    count(*)::int AS jobs,
    count(DISTINCT j.tenant_id)::int AS tenants,
    min(j.start_time) AS since,
    max(j.start_time + (coalesce(j.timeout, q.default_timeout, %(timeout)s) + %(grace)s) * interval '1 second') AS ends_by
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.slot IS NOT NULL
  AND j.worker IS NOT NULL
GROUP BY 1, 2
ORDER BY j.worker, jobs DESC, job_type

-- name: look_queue_hours
-- Reads:  the attempts that ended, by queue and hour, and the histogram of how long they had waited. Who: the operators' page of
--         queues, the past hours every ten minutes. Locks: none. Index: the primary key of job_minutes.
SELECT queue_id, date_bin('1 hour', minute, %(since)s::timestamptz) AS hour, sum(attempts)::bigint,
-- include shared/waits_added
FROM job_minutes
WHERE minute >= %(since)s::timestamptz AND minute < %(until)s::timestamptz
GROUP BY queue_id, 2

-- name: look_runs
-- Reads:  the last runs of these schedules, at most `most` of each, latest first. Runs are kept for months.
-- Who:    the operators' pages. Locks: none. Index: schedule_runs_once.
SELECT r.schedule_id, r.due, r.job_id, r.note
FROM unnest(%(ids)s::bigint[]) AS asked (schedule_id)
CROSS JOIN LATERAL (
    SELECT schedule_id, due, job_id, note FROM schedule_runs
    WHERE schedule_runs.schedule_id = asked.schedule_id
    ORDER BY due DESC
    LIMIT %(most)s
) r
ORDER BY r.due DESC

-- name: look_samples
-- Reads:  what was under way, once in a minute: of all queues and pools, and of these tenants.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of samples.
SELECT s.at, mine.tenants, s.queues, s.pools
FROM samples s
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(id, s.tenants -> id), '{}') AS tenants
    FROM unnest(%(ids)s::text[]) id
    WHERE s.tenants ? id
) mine
WHERE s.at >= %(since)s::timestamptz
ORDER BY s.at

-- name: look_type_minutes
-- Reads:  the latest `most` minutes in which attempts of a job type ended, and the attempts of all types in each of them.
-- Who:    the operators' page of that type, kept for half a minute. Locks: none. Index: the primary key of job_minutes.
SELECT minute, (SELECT sum(attempts)::bigint FROM job_minutes every WHERE every.minute = latest.minute)
FROM (
    SELECT DISTINCT minute FROM job_minutes
    WHERE minute >= %(since)s::timestamptz AND minute < %(until)s::timestamptz
      AND source_type = %(source_type)s AND source_method = %(source_method)s
    ORDER BY minute DESC LIMIT %(most)s
) latest
ORDER BY minute DESC

-- name: look_slot_hours
-- Reads:  the work in the slots of a tenant in these hours. Who: the operators' page of that tenant. Locks: none.
-- Index:  the primary key.
SELECT hour, seconds, most FROM slot_hours WHERE hour = ANY(%(hours)s::timestamptz[]) AND tenant_id = %(tenant_id)s

-- name: look_worked
-- Reads:  by worker: the jobs that it ended in the last minute, and its crashes in the last day: attempts whose process died
--         with them, other than for their memory. Of each, the latest `most` of all workers are counted.
-- Who:    the operators' pages. Locks: none. Index: jobs_ended, failed_attempts_crashes.
WITH clock AS (SELECT clock_timestamp() AS now),
worked AS (
    SELECT j.worker, 1 AS ended, 0 AS crashes FROM clock CROSS JOIN LATERAL (
        SELECT worker FROM jobs
        WHERE end_time IS NOT NULL AND died_at IS NULL AND end_time > clock.now - interval '1 minute'
        ORDER BY end_time DESC LIMIT %(most)s
    ) j
    UNION ALL
    SELECT f.worker, 0, 1 FROM clock CROSS JOIN LATERAL (
        SELECT worker FROM failed_attempts
        WHERE error_class IN ('WorkerGone', 'ProcessDied', 'SharedDeath') AND end_time > clock.now - interval '1 day'
        ORDER BY end_time DESC LIMIT %(most)s
    ) f
)
SELECT worker, sum(ended)::int, sum(crashes)::int FROM worked WHERE worker IS NOT NULL GROUP BY worker

-- name: look_taken_back
-- Reads:  by worker: how many of its attempts ended in the last day since it was gone, and the first ids of their jobs; among the
--         latest `most` attempts that died with their process. Who: the operators' pages, if a worker was lost. Locks: none.
-- Index:  failed_attempts_crashes.
WITH clock AS (SELECT clock_timestamp() AS now)
SELECT worker, count(DISTINCT job_id)::int, (array_agg(DISTINCT job_id))[:%(listed)s]
FROM clock CROSS JOIN LATERAL (
    SELECT worker, job_id, error_class FROM failed_attempts
    WHERE error_class IN ('WorkerGone', 'ProcessDied', 'SharedDeath') AND end_time > clock.now - interval '1 day'
    ORDER BY end_time DESC LIMIT %(most)s
) died
WHERE worker = ANY(%(workers)s::uuid[])
  AND error_class = 'WorkerGone'
GROUP BY worker
