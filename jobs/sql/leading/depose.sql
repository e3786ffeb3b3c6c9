-- Change: end the session of a leading clock that was silent for `silent` seconds, and free its lock.
-- Who:    a clock that wants to lead. A leader runs a statement at least every second, so a silent one was stopped, or its
--         machine is unreachable; its lock would keep all others away for as long as that lasts.
-- A leader in the middle of a long statement is active, not silent.
SELECT pg_terminate_backend(a.pid)
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
  AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid
  AND l.objid = 0
  AND a.state <> 'active'
  AND a.state_change < clock_timestamp() - %(silent)s * interval '1 second'
