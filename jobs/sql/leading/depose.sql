-- Change: the session of a clock that leads, but was silent for `silent` seconds, is ended, and with it its lock.
-- Who:    a clock that wants to lead. A leader says something at least every second, so this one was stopped, or its
--         machine can no longer be reached; the lock of its session would keep all others away for as long as that lasts.
-- One in the middle of a long statement is active, and so not silent.
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
