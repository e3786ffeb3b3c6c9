-- The door, step 2 of 2: wait until the dispatch inside commits, since one decides at a time (I1); then give up the waiting place.
-- In this order, and before the fold takes its snapshot: from here on the next dispatch waits at the door itself, since this pass may
-- not see its work (I2). A condition in the outer WHERE would be evaluated first, and a pass without the place would not wait.
SELECT CASE WHEN current_setting('jobs.door') = 'waiting, in line' THEN pg_advisory_unlock(hashtext('jobs.door'), 1) END
FROM (
    SELECT pg_advisory_xact_lock(hashtext('jobs.door'), 0)  -- guard I1
    WHERE current_setting('jobs.door') LIKE 'waiting%%'
    OFFSET 0  -- a step of its own
) inside
