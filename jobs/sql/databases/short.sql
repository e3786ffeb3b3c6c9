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
