-- The session that holds the lock of the leading clock (`lead`): its backend is `a`.
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
  AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid
  AND l.objid = 0
