-- Change: the processes of each pool from now on, and their seats, where they differ from those noted last; with the jobs that still
--         run in workers which drain or are silent: these hold no process of the others. Workers of a pool may differ in their seats
--         for a while, after a change: then their mean is noted. Without workers a pool has the seats that are set.
-- Who:    the recorder. Locks: none. Index: workers_live; jobs_one_job_per_slot; the primary keys of pools and pool_changes.
WITH
-- include shared/clock
-- include shared/live_pools
pool AS (SELECT pool FROM present_worker UNION SELECT pool FROM queues),
crew AS (
    SELECT p.pool, sum(w.concurrency / w.seats)::int AS processes, CASE
        WHEN bool_or(w.kind = 'light') THEN ceil(sum(w.concurrency)::float8 / sum(w.concurrency / w.seats))::int
    END AS seats
    FROM present_worker p JOIN workers w ON w.id = p.id
    WHERE p.live
    GROUP BY p.pool
),
leaves AS (
    SELECT w.pool, count(*)::int AS jobs
    FROM jobs j JOIN present_worker w ON w.id = j.worker
    WHERE j.slot IS NOT NULL AND NOT w.live
    GROUP BY w.pool
),
present AS (
    SELECT
        pool.pool, coalesce(crew.processes, 0) AS processes, coalesce(leaves.jobs, 0) AS leaving,
        CASE WHEN crew.pool IS NULL THEN light.seats ELSE crew.seats END AS seats
    FROM pool
    LEFT JOIN crew ON crew.pool = pool.pool
    LEFT JOIN leaves ON leaves.pool = pool.pool
    LEFT JOIN pools light ON light.name = pool.pool AND light.kind = 'light'
)
INSERT INTO pool_changes (at, pool, processes, seats, leaving)
SELECT clock.now, present.pool, present.processes, present.seats, present.leaving
FROM present
CROSS JOIN clock
LEFT JOIN LATERAL (
    SELECT processes, seats, leaving FROM pool_changes WHERE pool_changes.pool = present.pool ORDER BY at DESC LIMIT 1
) before ON true
WHERE (present.processes, present.seats, present.leaving) IS DISTINCT FROM (before.processes, before.seats, before.leaving)
ON CONFLICT DO NOTHING
