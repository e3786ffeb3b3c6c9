-- Reads:  the newest workers that are live or have gone in the last day, at most `most`; whether a worker carries the
--         leading clock. Who: the operators' pages. Locks: none. Index: none, the table has few rows.
SELECT
    w.id, w.name, w.pid, w.pool, w.concurrency, w.beat_interval, w.started_at, w.beat_at, w.gone_at, w.lost,
    EXISTS (
        SELECT
        -- include shared/clock_lock
          AND a.application_name LIKE 'jobs:' || replace(w.id::text, '-', '') || ':%%'
    ) AS leads
FROM workers w
WHERE w.gone_at IS NULL OR w.gone_at > clock_timestamp() - interval '1 day'
ORDER BY w.gone_at DESC NULLS FIRST, w.pool, w.started_at DESC
LIMIT %(most)s
