-- name: another_reaches_broker
-- Reads:  whether another worker has lately recorded that it reaches the broker. Who: the clock of a worker that does not, before
--         it leads. Locks: none. Index: workers_live.
-- Lately: within one and a half intervals of its beat. A worker without a beat since then could not take the lead.
-- include shared/reaching

-- name: beat
-- Change: record a worker's heartbeat; the first one registers it. Who: the worker's parent process.
-- Locks:  its row. Returns no row if the worker was declared gone: then it must stop its jobs; drains: it was asked to take no
--         more, and has no capacity from that moment on.
INSERT INTO workers (id, name, pid, pool, kind, threads, concurrency, seats, beat_interval, database_wait, started_at, beat_at, cut_off_at)
SELECT %(id)s, %(name)s, %(pid)s, %(pool)s, %(kind)s, %(threads)s, %(capacity)s, %(seats)s, %(interval)s, %(database_wait)s::float8,
    clock.now, clock.now, CASE WHEN %(cut_off)s THEN clock.now END
FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
ON CONFLICT (id) DO UPDATE
SET beat_at = excluded.beat_at,
    database_wait = excluded.database_wait,
    cut_off_at = CASE WHEN excluded.cut_off_at IS NOT NULL THEN coalesce(workers.cut_off_at, excluded.cut_off_at) END,
    concurrency = CASE WHEN workers.drain_requested_at IS NULL THEN excluded.concurrency ELSE 0 END
WHERE workers.gone_at IS NULL  -- guard
RETURNING (xmax = 0) AS registered, drain_requested_at IS NOT NULL AS drains

-- name: count_repairs
-- Change: add a number to the repairs of a kind. Who: the clock. Locks: its row. Index: primary key.
INSERT INTO repairs AS r (kind, count, last_at) VALUES (%(kind)s, %(number)s, clock_timestamp())
ON CONFLICT (kind) DO UPDATE SET count = r.count + excluded.count, last_at = excluded.last_at

-- name: end_sessions
-- Change: end the sessions of a dead process, or of a whole worker (name%%): this rolls back their transactions and frees
--         their locks. Who: recover, before it takes back the jobs.
-- `patience`: milliseconds to wait for each; 0: do not wait.
-- Returns whether all have ended within that time: a session that is left may still execute a statement.
SELECT coalesce(bool_and(CASE
    WHEN %(patience)s::bigint > 0 THEN pg_terminate_backend(pid, %(patience)s) ELSE pg_terminate_backend(pid)
END), true)
FROM pg_stat_activity
WHERE datname = current_database()
  AND pid <> pg_backend_pid()
  AND application_name LIKE %(name)s  -- guard I3

-- name: has_sessions_beside
-- Reads:  whether there are sessions of this name beside ours: of the processes that a body has kept. Who: the process that ran it.
SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE datname = current_database()
      AND application_name = %(name)s
      AND pid <> ALL(%(ours)s::int[] || pg_backend_pid())
)

-- name: leave_to_leader
-- Change: let these messages count as lost at once, so that the leading clock sends them. Not an arrow, as hand_over_again.
-- Who:    a process that could not send them. If no other worker reaches the broker, they wait until they count as lost.
-- Locks:  the rows; it skips locked rows, whose attempts are about to start. Index: primary key; handed_at is not indexed (HOT).
WITH unsent AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN unnest(%(ids)s::bigint[], %(attempts)s::int[]) AS u (id, attempt) USING (id, attempt)
    WHERE j.status = 'queued'  -- guard I3
      AND (
          -- include shared/reaching
      )
    FOR NO KEY UPDATE OF j SKIP LOCKED
)
UPDATE jobs j
SET handed_at = least(j.handed_at, clock_timestamp() - %(patience)s * interval '1 second')
FROM unsent
WHERE j.id = unsent.id

-- name: left_behind
-- Reads:  the attempts of a dead process: those that run in it, and that of its message, if it is still queued. Who: its
--         parent. Index: jobs_one_job_per_slot; primary key.
-- Locks:  none that last: it tests whether the row is free; if it is not, the caller tries again.
WITH left_over AS MATERIALIZED (
    SELECT id, attempt FROM jobs
    WHERE slot IS NOT NULL
      AND status = 'running'  -- guard I3
      AND (
          -- include shared/held_by
      )  -- guard I3
    UNION ALL
    SELECT id, attempt FROM jobs
    WHERE id = %(id)s AND attempt = %(attempt)s AND status = 'queued'  -- guard I3
),
free AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN left_over USING (id) FOR NO KEY UPDATE OF j SKIP LOCKED
)
SELECT l.id, l.attempt, free.id IS NOT NULL AS free FROM left_over l LEFT JOIN free USING (id)

-- name: orphans
-- Reads:  running attempts whose worker is gone. Who: recover. Locks: none; take_back is fenced.
-- Index:  jobs_one_job_per_slot: it reads only jobs that hold a slot.
-- A worker may start a job before its first beat arrives: an unknown worker counts as gone only after `unknown_for` seconds.
-- A worker that left, or took no more jobs at its last beat, was stopped on purpose: a supervisor kills one that takes too long.
SELECT j.id, j.attempt, j.worker, w.name, coalesce(NOT w.lost OR w.concurrency = 0, false) AS stopped
FROM jobs j
CROSS JOIN (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
LEFT JOIN workers w ON w.id = j.worker
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND CASE WHEN w.id IS NULL THEN j.start_time < clock.now - %(unknown_for)s * interval '1 second'
           ELSE w.gone_at IS NOT NULL END  -- guard I3

-- name: running_here
-- Reads:  the attempts that run in this worker, with their processes, and whether they were asked to stop and still run after
--         the grace period. Who: its parent process, which compares them with what its processes hold; so this needs no
--         other process, and works in a draining worker. The last columns: whether an operator waits for the stack of its body, and
--         whether that has made a checkpoint.
-- Index:  jobs_one_job_per_slot, stacks_of_job.
SELECT
    id, attempt, tenant_id, worker_pid,
    coalesce(cancel_requested_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(grace)s * interval '1 second', false),
    EXISTS (
        SELECT FROM stacks s
        WHERE s.job_id = jobs.id
          AND s.attempt = jobs.attempt  -- guard
          AND s.answered_at IS NULL  -- guard
          AND s.asked_at > coalesce(%(now)s::timestamptz, clock_timestamp()) - %(late)s * interval '1 second'  -- guard
    ),
    cursor IS NOT NULL
FROM jobs
WHERE slot IS NOT NULL
  AND status = 'running'  -- guard I3
  AND worker = %(worker)s  -- guard
