-- Change: the sessions of a process, or of a whole worker (name%%), that is no more are ended: what they were doing is
--         rolled back, and their locks are free. Who: whoever takes back what it ran, before that.
-- `patience`: milliseconds to wait for each; 0: not at all.
-- Whether all have ended, as far as was waited for: a session that is left may still carry something out.
SELECT coalesce(bool_and(CASE
    WHEN %(patience)s::bigint > 0 THEN pg_terminate_backend(pid, %(patience)s) ELSE pg_terminate_backend(pid)
END), true)
FROM pg_stat_activity
WHERE datname = current_database()
  AND pid <> pg_backend_pid()
  AND application_name LIKE %(name)s  -- guard I3
