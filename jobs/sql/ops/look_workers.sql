-- Reads:  the newest workers that are live or have gone in the last day, at most `most`; whether a worker carries the
--         leading clock. Who: the operators' pages. Locks: none. Index: none, the table has few rows.
SELECT
    w.id, w.name, w.pid, w.pool, w.concurrency, w.beat_interval, w.started_at, w.beat_at, w.gone_at,
    EXISTS (
        SELECT FROM pg_locks l
        JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory'
          AND l.granted
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND l.classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid
          AND l.objid = 0
          AND a.application_name LIKE 'jobs:' || replace(w.id::text, '-', '') || ':%%'
    ) AS leads
FROM workers w
WHERE w.gone_at IS NULL OR w.gone_at > clock_timestamp() - interval '1 day'
ORDER BY w.gone_at DESC NULLS FIRST, w.pool, w.started_at DESC
LIMIT %(most)s
