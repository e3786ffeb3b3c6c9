-- Reads:  the number that was given to the last job (null: to none yet), the greatest that a job has, and whether this server
--         is known, or the first one. Who: a system check (jobs/checks/databases.py). Locks: none. Index: primary keys.
SELECT
    pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass),
    greatest((SELECT max(id) FROM jobs), (SELECT max(id) FROM job_history)),
    NOT EXISTS (SELECT FROM servers) OR EXISTS (
        SELECT FROM servers s JOIN pg_control_system() c ON c.system_identifier = s.identifier
        WHERE s.timeline = ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
    )
