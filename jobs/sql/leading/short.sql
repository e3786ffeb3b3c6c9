-- name: database_time
-- Reads:  PostgreSQL's clock, in seconds. Who: the clock, to notice that one of the two clocks was set.
SELECT extract(epoch FROM clock_timestamp())::float8

-- name: depose
-- Change: end the session of a leading clock that was silent for `silent` seconds, and free its lock.
-- Who:    a clock that wants to lead. A leader runs a statement at least every second, so a silent one was stopped, or its
--         machine is unreachable; its lock would keep all others away for as long as that lasts.
-- A leader in the middle of a long statement is active, not silent.
SELECT pg_terminate_backend(a.pid)
-- include shared/clock_lock
  AND a.state <> 'active'
  AND a.state_change < clock_timestamp() - %(silent)s * interval '1 second'

-- name: lead
-- Reads:  whether this session has become the leading clock's. Who: every clock, until it leads.
-- Locks:  an advisory lock of the session: it is freed when the session ends, for any reason.
SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)

-- name: listen
-- Change: this session listens to `wake_clock`. Who: the leading clock.
LISTEN jobs_due

-- name: wake_clock
-- Change: wake the leading clock, which then reads the next moment. Who: a transaction that made a new moment due.
NOTIFY jobs_due
