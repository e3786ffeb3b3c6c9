-- name: database_time
-- Reads:  PostgreSQL's clock, in seconds. Who: the clock, to notice that one of the two clocks was set.
SELECT extract(epoch FROM clock_timestamp())::float8

-- name: clear_door
-- Change: end the sessions that hold the door, or its waiting place, and whose client has sent nothing for `silent` seconds.
-- Who:    the leading clock, before it dispatches. A pass leaves at once, and is carried out in milliseconds. If its host is
--         cut off in the middle, PostgreSQL waits for the rest, with the door shut: no time limit of PostgreSQL ends that.
-- A session that waits for the door, or works inside, does not read from its client.
SELECT pg_terminate_backend(a.pid)
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
  AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid = (hashtext('jobs.door')::bigint & 4294967295)::oid
  AND a.wait_event = 'ClientRead'  -- guard
  AND a.state_change < clock_timestamp() - %(silent)s * interval '1 second'  -- guard

-- name: depose
-- Change: end the session of a leading clock that was silent for `silent` seconds, and free its lock.
-- Who:    a clock that wants to lead. A leader runs a statement at least every second, so a silent one was stopped, or its
--         machine is unreachable; its lock would keep all others away for as long as that lasts.
-- A leader in the middle of a long statement is not silent. One that was cut off in the middle of a pipeline is, although its
-- state is `active`: PostgreSQL waits for its client.
SELECT pg_terminate_backend(a.pid)
-- include shared/clock_lock
  AND (a.state <> 'active' OR a.wait_event = 'ClientRead')
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
