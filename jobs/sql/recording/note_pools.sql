-- Change: the processes of each pool from now on, where they differ from those noted last; with the jobs that still run in
--         workers which drain or are silent: these hold no process of the others.
-- Who:    the recorder. Locks: none. Index: workers_live; jobs_one_job_per_slot; the primary key of pool_changes.
WITH
-- include shared/clock
-- include shared/live_pools
pool AS (SELECT pool FROM present_worker UNION SELECT pool FROM queues),
leaves AS (
    SELECT w.pool, count(*)::int AS jobs
    FROM jobs j JOIN present_worker w ON w.id = j.worker
    WHERE j.slot IS NOT NULL AND NOT w.live
    GROUP BY w.pool
)
INSERT INTO pool_changes (at, pool, processes, leaving)
SELECT clock.now, pool.pool, coalesce(live_pool.processes, 0), coalesce(leaves.jobs, 0)
FROM pool
CROSS JOIN clock
LEFT JOIN live_pool ON live_pool.pool = pool.pool
LEFT JOIN leaves ON leaves.pool = pool.pool
LEFT JOIN LATERAL (
    SELECT processes, leaving FROM pool_changes WHERE pool_changes.pool = pool.pool ORDER BY at DESC LIMIT 1
) before ON true
WHERE (coalesce(live_pool.processes, 0), coalesce(leaves.jobs, 0)) IS DISTINCT FROM (before.processes, before.leaving)
ON CONFLICT DO NOTHING
