-- name: owner_of_tables
-- Reads:  the role of this session, and the owner of a table that it may not act as; no row: it may. The clock makes partitions
--         and drops them. Who: a system check (jobs/checks/databases.py). Locks: none. Index: pg_class by oid.
SELECT quote_ident(current_user), relowner::regrole::text FROM pg_class
WHERE oid = to_regclass(%(table)s) AND NOT pg_has_role(relowner, 'USAGE')

-- name: roles_of_session
-- Reads:  the role of this session, and the one that has logged in, if the first may not end sessions of the second; no row: it
--         may. The clock ends those of frozen workers. Who: a system check (jobs/checks/databases.py). Locks: none. Index: none.
SELECT quote_ident(current_user), quote_ident(session_user)
WHERE
    NOT pg_has_role(session_user, 'USAGE')
    AND NOT (pg_has_role('pg_signal_backend', 'USAGE') AND pg_has_role('pg_read_all_stats', 'USAGE'))

-- name: other_schedulers
-- Reads:  the other schemas of this database that have a table of jobs, under any prefix: theirs would take the same locks.
-- Who:    a system check (jobs/checks/databases.py). Locks: none. Index: all of pg_class.
SELECT relnamespace::regnamespace::text FROM pg_class
WHERE relkind = 'r' AND relname LIKE '%%' || %(ending)s AND NOT pg_table_is_visible(oid)

-- name: vacuum_off
-- Reads:  the settings of this server without which no dead row is removed ('': of the server), and our tables that are excepted.
-- Who:    a system check (jobs/checks/databases.py). Locks: none. Index: pg_class by oid, pg_inherits by parent.
SELECT '' AS ours, name FROM pg_settings WHERE name IN ('autovacuum', 'track_counts') AND setting = 'off'
UNION ALL
SELECT c.oid::regclass::text, option_name
FROM unnest(%(tables)s::text[]) AS t (name)
JOIN pg_class c ON c.oid = to_regclass(t.name) OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(t.name)),
    pg_options_to_table(c.reloptions)
WHERE option_name = 'autovacuum_enabled' AND NOT option_value::boolean
ORDER BY 1, 2
