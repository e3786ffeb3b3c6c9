-- Reads:  whether this session is the leading clock's from now on. Who: every clock, until it leads.
-- Locks:  an advisory one of the session: it is free when the session ends, however it ends.
SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)
