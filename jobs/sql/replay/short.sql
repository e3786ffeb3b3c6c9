-- name: replay_past
-- Reads:  the attempts that became ready before `ends` and ended after `begins`, those under way, the jobs in line, and the jobs that
--         left it without an attempt. Moments are seconds from `since`. At most `most`, in no order.
-- Who:    a what-if, in a process of its own. Locks: none. Index: attempts_ended; jobs_one_job_per_slot; jobs_claim; left_line_by_time.
SELECT
    job_id, tenant_id, queue_id, job_place(priority, job_id) AS place, user_key AS user,
    source_type || '.' || source_method AS job_type,
    extract(epoch FROM coalesce(ready_at, claimed_at, started_at) - %(since)s::timestamptz)::float8 AS ready_at,
    extract(epoch FROM claimed_at - %(since)s::timestamptz)::float8 AS claimed_at,
    extract(epoch FROM started_at - %(since)s::timestamptz)::float8 AS started_at,
    extract(epoch FROM ended_at - %(since)s::timestamptz)::float8 AS ended_at,
    good,
    hashtextextended(worker::text, worker_pid::bigint) AS process,
    extract(epoch FROM left_at - %(since)s::timestamptz)::float8 AS left_at
FROM (
    SELECT
        job_id, tenant_id, queue_id, priority, user_key, source_type, source_method, waited_since AS ready_at,
        queued_at AS claimed_at, start_time AS started_at, ended_at, outcome = 'success' AS good, worker, worker_pid,
        NULL::timestamptz AS left_at
    FROM attempts
    WHERE ended_at >= %(begins)s::timestamptz AND ended_at < %(latest)s::timestamptz
    UNION ALL
    SELECT
        id, tenant_id, queue_id, priority, user_key, source_type, source_method, waited_since, queued_at, start_time,
        NULL, true, worker, worker_pid, NULL
    FROM jobs WHERE slot IS NOT NULL
    UNION ALL
    SELECT
        id, tenant_id, queue_id, priority, user_key, source_type, source_method, ready_at, NULL, NULL, NULL, true, NULL, NULL,
        NULL
    FROM jobs WHERE ready_at IS NOT NULL
    UNION ALL
    SELECT
        job_id, tenant_id, queue_id, priority, user_key, source_type, source_method, ready_at, NULL, NULL, NULL, true, NULL, NULL,
        at
    FROM left_line WHERE at >= %(begins)s::timestamptz
) found
WHERE coalesce(ready_at, claimed_at, started_at) < %(ends)s::timestamptz
LIMIT %(most)s

-- name: replay_changes
-- Reads:  the limits and the processes at `begins`, and their changes up to `latest`. If the first record of a subject is later, it
--         stands for `begins`. Moments are seconds from `since`. Who: a what-if. Locks: none. Index: none; they are few.
WITH
noted AS (
    SELECT kind, subject::text AS subject, at, id, limits FROM limit_changes WHERE kind <> 'job_type'
    UNION ALL
    SELECT 'pool', pool, at, 0, jsonb_build_object('processes', processes, 'seats', seats, 'leaving', leaving) FROM pool_changes
)
SELECT kind, subject, extract(epoch FROM at - %(since)s::timestamptz)::float8 AS at, limits::text
FROM noted n
WHERE at <= %(latest)s::timestamptz AND (
    at > %(begins)s::timestamptz
    OR NOT EXISTS (
        SELECT FROM noted later
        WHERE later.kind = n.kind AND later.subject = n.subject AND (later.at, later.id) > (n.at, n.id)
          AND later.at <= %(begins)s::timestamptz
    )
)
ORDER BY n.at, n.id

-- name: one_replay
-- Reads:  whether this session is now the only one that replays, until it ends. Who: a what-if. Locks: an advisory one.
SELECT pg_try_advisory_lock(hashtext('jobs.what-if'), 0)
