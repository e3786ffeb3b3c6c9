-- The door, step 1 of 3: take the one place to wait at it, or go home. Who: every dispatch.
-- Whoever holds the place has yet to take its snapshot, and so will see the work that brought us here: a dispatch that
-- finds it taken may leave (I2). The clock's pass waits without a place: a stalled holder keeps nobody away for long.
-- 'jobs.door' lives as long as the transaction; the claim reads it and refuses to work outside. So do the other settings:
-- * A pass takes milliseconds. One that cannot get in, or out, must not hold others up: the clock tries again.
-- * No plan rests on an estimate: everything is reached by an index, in its order, row by row, planned once.
SELECT
    set_config(
        'jobs.door',
        CASE WHEN NOT %(in_line)s THEN 'waiting'
             WHEN pg_try_advisory_lock(hashtext('jobs.door'), 1) THEN 'waiting, in line'
             ELSE 'left' END,
        true
    ) <> 'left' AS waits,
    set_config('synchronous_commit', 'off', true),
    set_config('lock_timeout', '5s', true),
    set_config('statement_timeout', '30s', true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)
