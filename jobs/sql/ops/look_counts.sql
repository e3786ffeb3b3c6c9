-- Reads:  how many jobs are scheduled, held, dead, died in the last day, and ended in the last minute; each counted up to
--         `most`.
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
    (SELECT count(*)::int FROM ended WHERE status = 'cancelled') AS cancelled_now
FROM clock
