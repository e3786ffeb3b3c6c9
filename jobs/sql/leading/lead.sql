-- Reads:  whether this session has become the leading clock's. Who: every clock, until it leads.
-- Locks:  an advisory lock of the session: it is freed when the session ends, for any reason.
SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)
