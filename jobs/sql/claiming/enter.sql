-- The door, step 2 of 3: wait until the dispatch inside commits. One dispatch decides at a time (I1).
SELECT pg_advisory_xact_lock(hashtext('jobs.door'), 0)  -- guard I1
WHERE current_setting('jobs.door') LIKE 'waiting%%'
