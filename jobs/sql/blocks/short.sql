-- name: blocks_lately
-- Reads:  the blocks of event loops that began in the last `lately` seconds and are over, by pool and job type: their number, their
--         seconds, and the job and the place of the last one; the types with most of them first. Of all, the last `most` are counted.
-- Who:    health and metrics. Locks: none. Index: blocked_loops_by_time; the primary key of jobs.
WITH
-- include shared/clock
lately AS (
    SELECT b.* FROM blocked_loops b CROSS JOIN clock
    WHERE b.began_at > clock.now - %(lately)s * interval '1 second'  -- guard
      AND b.seconds IS NOT NULL  -- guard
    ORDER BY b.began_at DESC
    LIMIT %(most)s
)
SELECT
    b.pool,
    coalesce(j.source_type || '.' || j.source_method, '') AS job_type,
    count(*)::int AS times,
    sum(b.seconds)::float8 AS seconds,
    (array_agg(b.job_id ORDER BY b.began_at DESC))[1] AS job_id,
    (array_agg(b.place ORDER BY b.began_at DESC))[1] AS place
FROM lately b LEFT JOIN jobs j ON j.id = b.job_id
GROUP BY 1, 2
ORDER BY b.pool, times DESC, job_type

-- name: blocks_now
-- Reads:  the event loops that are blocked now, the longest blocked ones first, at most `most`: since when, by which job and where, and
--         how many other seats of the process hold an attempt.
-- Who:    health and the operators' page of workers. Locks: none. Index: blocked_loops_by_time; primary keys.
-- A row may stay open: its worker has died, or could not write that the block is over. Then the worker or the attempt has ended, too.
WITH
-- include shared/clock
open AS (
    SELECT b.* FROM blocked_loops b CROSS JOIN clock
    WHERE b.began_at > clock.now - interval '1 hour'  -- guard
      AND b.seconds IS NULL  -- guard
)
SELECT
    b.worker,
    b.pool,
    coalesce(j.source_type || '.' || j.source_method, '') AS job_type,
    b.job_id,
    b.place,
    greatest(b.seats - 1, 0) AS others,
    greatest(extract(epoch FROM clock.now - b.began_at), 0)::float8 AS seconds
FROM open b
CROSS JOIN clock
JOIN workers w ON w.id = b.worker
LEFT JOIN jobs j ON j.id = b.job_id
WHERE w.gone_at IS NULL  -- guard
  AND w.beat_at > clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
  AND (b.job_id IS NULL OR (j.attempt = b.attempt AND j.slot IS NOT NULL))  -- guard
ORDER BY b.began_at
LIMIT %(most)s

-- name: blocks_of_job
-- Reads:  the blocks by the body of a job, by attempt and place; those of the last attempt first, at most `most`; whether one goes on.
-- Who:    the operators' page of the job. Locks: none. Index: blocked_loops_by_job; the primary key of jobs.
SELECT
    b.attempt,
    b.place,
    count(*)::int AS times,
    sum(b.seconds)::float8 AS seconds,
    greatest(max(b.seats) - 1, 0) AS others,
    coalesce(bool_or(b.seconds IS NULL AND j.attempt = b.attempt AND j.slot IS NOT NULL), false) AS goes_on
FROM blocked_loops b LEFT JOIN jobs j ON j.id = b.job_id
WHERE b.job_id = %(job_id)s  -- guard
GROUP BY b.attempt, b.place
ORDER BY b.attempt DESC, max(b.began_at) DESC
LIMIT %(most)s
