-- Change: the hours from `starts` up to `ends` of tenant_hours, counted from `attempts` and replaced. The present hour is
--         recorded again and again. The log only grows, until its days are dropped: then the hours stay.
-- Who:    the recorder. Locks: rows that only the recorder writes. Index: attempts_ended.
WITH
-- include shared/ended_between
tally AS (
    SELECT tenant_id, date_trunc('hour', ended_at, 'UTC') AS hour, queue_id, source_type, source_method, outcome,
    -- include shared/times
    , sum_units(units) AS units
    FROM ended
    GROUP BY tenant_id, hour, queue_id, source_type, source_method, outcome
)
INSERT INTO tenant_hours AS h (
    tenant_id, hour, queue_id, source_type, source_method, outcome,
    attempts, run_seconds, wait_seconds, run_buckets, wait_buckets, process_wait_seconds, process_wait_buckets, targeted, in_time, units
)
SELECT * FROM tally
ON CONFLICT (tenant_id, hour, queue_id, source_type, source_method, outcome) DO UPDATE
SET attempts = excluded.attempts,
    run_seconds = excluded.run_seconds,
    wait_seconds = excluded.wait_seconds,
    run_buckets = excluded.run_buckets,
    wait_buckets = excluded.wait_buckets,
    process_wait_seconds = excluded.process_wait_seconds,
    process_wait_buckets = excluded.process_wait_buckets,
    targeted = excluded.targeted,
    in_time = excluded.in_time,
    units = excluded.units
WHERE h.attempts < excluded.attempts  -- guard
