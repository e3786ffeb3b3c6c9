-- The door, step 3 of 3: give up the waiting place, after taking the lock and before the fold takes its snapshot.
-- From here on the next dispatch waits at the door itself, since this pass may not see its work (I2).
SELECT pg_advisory_unlock(hashtext('jobs.door'), 1)
WHERE current_setting('jobs.door') = 'waiting, in line'
