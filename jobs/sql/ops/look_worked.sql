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
        WHERE error_class IN ('WorkerGone', 'ProcessDied') AND end_time > clock.now - interval '1 day'
        ORDER BY end_time DESC LIMIT %(most)s
    ) f
)
SELECT worker, sum(ended)::int, sum(crashes)::int FROM worked WHERE worker IS NOT NULL GROUP BY worker
