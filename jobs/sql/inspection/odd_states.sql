-- Reads:  jobs that are in a state longer than they should be. Who: the inspection. Locks: none.
-- Index:  the partial ones, each for its own kind of status; finished jobs are not read.
-- `bound` seconds are allowed beyond the job's own time, so that the clock and a worker can act first.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/idle_pools
held AS MATERIALIZED (
    SELECT j.id, j.status, j.worker, j.attempt, j.handed_at, j.start_time, q.pool,
        coalesce(j.timeout, q.default_timeout, %(default_timeout)s) + %(grace)s AS may_run
    FROM jobs j JOIN queues q ON q.id = j.queue_id
    WHERE j.slot IS NOT NULL
)
SELECT 'half_state', id, 'status ' || status || ', but it holds a slot' FROM held WHERE status NOT IN ('queued', 'running')
UNION ALL
SELECT 'half_state', id, 'status ' || status || ', but it is in line'
FROM jobs WHERE ready_at IS NOT NULL AND status <> 'created'
UNION ALL
SELECT 'half_state', id, 'status ' || status || ', but it is due'
FROM jobs WHERE due_at IS NOT NULL AND status <> 'scheduled'
UNION ALL
SELECT 'overdue', id, 'was due at ' || to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
FROM jobs CROSS JOIN clock WHERE due_at < clock.now - %(bound)s * interval '1 second'  -- guard
UNION ALL
SELECT 'worker_gone', h.id, coalesce('its worker has been gone since ' || to_char(w.gone_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), 'its worker is unknown')
FROM held h CROSS JOIN clock LEFT JOIN workers w ON w.id = h.worker
WHERE h.status = 'running'
  AND (w.id IS NULL OR w.gone_at < clock.now - %(bound)s * interval '1 second')  -- guard
UNION ALL
SELECT 'runs_too_long', h.id, 'has been running since ' || to_char(h.start_time AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || '; its time limit is ' || h.may_run || ' s'
FROM held h CROSS JOIN clock
WHERE h.status = 'running'
  AND h.start_time < clock.now - (h.may_run + %(bound)s) * interval '1 second'  -- guard
UNION ALL
SELECT 'message_lost', h.id, 'no process took it up since ' || to_char(h.handed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
FROM held h CROSS JOIN clock JOIN idle_pool USING (pool)
WHERE h.status = 'queued'
  AND h.handed_at < clock.now - (%(patience)s + %(bound)s) * interval '1 second'  -- guard
