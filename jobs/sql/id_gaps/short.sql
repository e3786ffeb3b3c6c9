-- name: notice_server
-- Change: note the PostgreSQL server of this session, if it is new here: after a failover or a point-in-time restore it has
--         another timeline, after a restore of a dump another identifier. Returns whether there was a server before it: then the
--         new one may lack the last numbers that the old one gave to jobs.
-- Who:    the clock that takes the lead; an operator who skips numbers. Locks: none. Index: servers_once.
WITH new AS (
    INSERT INTO servers (identifier, timeline, noticed_at)
    SELECT
        system_identifier, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int, clock_timestamp()
    FROM pg_control_system()
    ON CONFLICT (identifier, timeline) DO NOTHING  -- guard
    RETURNING id
)
SELECT EXISTS (SELECT FROM servers) FROM new

-- name: numbers
-- Reads:  the number that was given to the last job (null: to none yet), the greatest that a job has; whether the door
--         would give out versions that its books have; and whether this server is known, or the first one. Who: a system check
--         (jobs/checks/databases.py). Locks: none. Index: primary keys; all of the books.
SELECT
    pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass) AS given,
    greatest((SELECT max(id) FROM jobs), (SELECT max(id) FROM job_history)) AS greatest,
    coalesce(greatest(
        (SELECT max(version) FROM lanes), (SELECT max(version) FROM queue_turns), (SELECT max(version) FROM tenant_books)
    ) > coalesce(pg_sequence_last_value('door_seq'), 0), false) AS door_is_behind,
    NOT EXISTS (SELECT FROM servers) OR EXISTS (
        SELECT FROM servers s JOIN pg_control_system() c ON c.system_identifier = s.identifier
        WHERE s.timeline = ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
    ) AS server_known

-- name: skip_numbers
-- Change: skip `by` numbers of jobs, beyond every number that this server gave out, or that a job has; as many numbers of events,
--         by which receivers of webhooks recognise a message that they have had; and as many versions of the books: logical
--         replication copies rows but no sequences, and no dispatch would find new work. Returns the last skipped number of jobs.
-- Who:    the clock after a failover or restore; an operator. Locks: none; setval never waits.
-- Index:  primary keys; all of the books.
SELECT
    setval(of_jobs, greatest(nextval(of_jobs), known.most) + %(by)s), setval('webhook_seq', nextval('webhook_seq') + %(by)s),
    setval('door_seq', greatest(nextval('door_seq'), known.version) + %(by)s)
FROM (SELECT pg_get_serial_sequence('jobs', 'id')::regclass AS of_jobs) sequences
CROSS JOIN (
    SELECT
        greatest((SELECT max(id) FROM jobs), (SELECT max(id) FROM job_history)) AS most,
        greatest(
            (SELECT max(version) FROM lanes), (SELECT max(version) FROM queue_turns), (SELECT max(version) FROM tenant_books)
        ) AS version
) known
