-- The door, step 3 of 3: give up the waiting place, after the lock is had and before the fold takes its snapshot.
-- From here on a new arrival waits for itself, since this pass may not see its work (I2).
SELECT pg_advisory_unlock(hashtext('jobs.door'), 1)
WHERE current_setting('jobs.door') = 'waiting, in line'
