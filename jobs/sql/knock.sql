-- The door, step 1 of 3: take the one place to wait at it, or go home. Who: every dispatch.
-- Whoever holds the place has yet to take its snapshot, and so will see the work that brought us here: a dispatch that
-- finds it taken may leave (I2). The clock's pass waits without a place: a stalled holder keeps nobody away for long.
-- 'jobs.door' lives as long as the transaction; the claim reads it and refuses to work outside.
SELECT set_config(
    'jobs.door',
    CASE WHEN NOT %(in_line)s THEN 'waiting'
         WHEN pg_try_advisory_lock(hashtext('jobs.door'), 1) THEN 'waiting, in line'
         ELSE 'left' END,
    true
) <> 'left' AS waits
