-- Change: the minutes from `starts` up to `ends` of job_minutes, counted from `attempts` and replaced; and `totals`, by the
--         difference. So the same minutes may be recorded again and again.
-- Who:    the recorder, under the lock of its row in `recorded`: of two at once, the second sees what the first wrote.
-- Locks:  rows that only the recorder writes. Index: attempts_ended.
WITH
-- include shared/ended_between
tally AS MATERIALIZED (
    SELECT date_trunc('minute', ended_at, 'UTC') AS minute, queue_id, source_type, source_method, outcome,
    -- include shared/times
    FROM ended
    GROUP BY minute, queue_id, source_type, source_method, outcome
),
replaced AS (
    INSERT INTO job_minutes AS m (
        minute, queue_id, source_type, source_method, outcome,
        attempts, run_seconds, wait_seconds, run_buckets, wait_buckets, process_wait_seconds, process_wait_buckets, targeted, in_time
    )
    SELECT * FROM tally
    ON CONFLICT (minute, queue_id, source_type, source_method, outcome) DO UPDATE
    SET attempts = excluded.attempts,
        run_seconds = excluded.run_seconds,
        wait_seconds = excluded.wait_seconds,
        run_buckets = excluded.run_buckets,
        wait_buckets = excluded.wait_buckets,
        process_wait_seconds = excluded.process_wait_seconds,
        process_wait_buckets = excluded.process_wait_buckets,
        targeted = excluded.targeted,
        in_time = excluded.in_time
    WHERE m.attempts <> excluded.attempts
),
signed AS (
    SELECT 1 AS sign, tally.* FROM tally
    UNION ALL
    SELECT -1, minute, queue_id, source_type, source_method, outcome,
        attempts, run_seconds, wait_seconds, run_buckets, wait_buckets, process_wait_seconds, process_wait_buckets, targeted, in_time
    FROM job_minutes  -- as it was before this statement
    WHERE minute >= %(starts)s::timestamptz AND minute < %(ends)s::timestamptz
)
INSERT INTO totals AS t (
    queue_id, source_type, source_method, outcome,
    attempts, run_seconds, wait_seconds, run_buckets, wait_buckets, process_wait_seconds, process_wait_buckets, targeted, in_time
)
SELECT queue_id, source_type, source_method, outcome,
    sum(sign * attempts), sum(sign * run_seconds), sum(sign * wait_seconds),
    sum_buckets(run_buckets, sign), sum_buckets(wait_buckets, sign),
    sum(sign * process_wait_seconds), sum_buckets(process_wait_buckets, sign),
    sum(sign * targeted), sum(sign * in_time)
FROM signed
GROUP BY queue_id, source_type, source_method, outcome
HAVING sum(sign * attempts) <> 0
ON CONFLICT (queue_id, source_type, source_method, outcome) DO UPDATE
SET attempts = t.attempts + excluded.attempts,
    run_seconds = t.run_seconds + excluded.run_seconds,
    wait_seconds = t.wait_seconds + excluded.wait_seconds,
    run_buckets = add_buckets(t.run_buckets, excluded.run_buckets, 1),
    wait_buckets = add_buckets(t.wait_buckets, excluded.wait_buckets, 1),
    process_wait_seconds = t.process_wait_seconds + excluded.process_wait_seconds,
    process_wait_buckets = add_buckets(t.process_wait_buckets, excluded.process_wait_buckets, 1),
    targeted = t.targeted + excluded.targeted,
    in_time = t.in_time + excluded.in_time
