-- Change: end the sessions of a dead process, or of a whole worker (name%%): this rolls back their transactions and frees
--         their locks. Who: recover, before it takes back the jobs.
-- `patience`: milliseconds to wait for each; 0: do not wait.
-- Returns whether all have ended within that time: a session that is left may still execute a statement.
SELECT coalesce(bool_and(CASE
    WHEN %(patience)s::bigint > 0 THEN pg_terminate_backend(pid, %(patience)s) ELSE pg_terminate_backend(pid)
END), true)
FROM pg_stat_activity
WHERE datname = current_database()
  AND pid <> pg_backend_pid()
  AND application_name LIKE %(name)s  -- guard I3
