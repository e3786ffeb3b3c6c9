-- Reads:  whether a clock leads; the seconds since the recorder last looked at these tasks (null: never); the seconds of the oldest
--         transaction of this database; its server's connections and their bound; the jobs whose message nobody has taken
--         up for so long; the dead letters, at most so many. Who: health and metrics. Locks: none.
-- Index:  jobs_one_job_per_slot, jobs_dead. A role that is no superuser sees only its own sessions.
WITH
-- include shared/clock
sessions AS MATERIALIZED (
    SELECT pid, datname, xact_start FROM pg_stat_activity WHERE backend_type = 'client backend'
)
SELECT
    clock.now,
    EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())  -- guard
          AND classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid AND objid = 0 AND objsubid = 2
    ) AS clock_leads,
    (
        SELECT extract(epoch FROM clock.now - min(at))::float8 FROM recorded
        WHERE task = ANY(%(tasks)s::text[])  -- guard
    ) AS recorder_age,
    coalesce((
        SELECT extract(epoch FROM clock.now - min(xact_start))::float8 FROM sessions
        WHERE datname = current_database() AND pid <> pg_backend_pid()  -- guard
    ), 0) AS oldest_transaction,
    (SELECT count(*)::int FROM sessions) AS connections,
    current_setting('max_connections')::int AS max_connections,
    (
        SELECT count(*)::int FROM jobs j
        WHERE j.slot IS NOT NULL
          AND j.status = 'queued'  -- guard
          AND j.queued_at < clock.now - %(patience)s * interval '1 second'  -- guard
    ) AS untaken,
    (SELECT count(*)::int FROM (SELECT FROM jobs WHERE died_at IS NOT NULL LIMIT %(most)s) dead) AS dead
FROM clock
