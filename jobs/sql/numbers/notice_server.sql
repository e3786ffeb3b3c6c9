-- Change: note the PostgreSQL server on which we are, if it is new here: after a failover or a point-in-time restore it has
--         another timeline, after a restore of a dump another identifier. Returns whether there was one before it: then it
--         may lack the last numbers of jobs that the other had given out.
-- Who:    the clock that takes the lead. Locks: none. Index: servers_once.
WITH new AS (
    INSERT INTO servers (identifier, timeline, noticed_at)
    SELECT
        system_identifier, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int, clock_timestamp()
    FROM pg_control_system()
    ON CONFLICT (identifier, timeline) DO NOTHING  -- guard
    RETURNING id
)
SELECT EXISTS (SELECT FROM servers) FROM new
