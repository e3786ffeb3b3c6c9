-- name: cancel_requested
-- Reads:  whether a running attempt was asked to stop. Who: its holder, fenced. Index: primary key.
SELECT cancel_requested_at IS NOT NULL FROM jobs
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND (
      -- include shared/held_by
  )  -- guard I8

-- name: still_running
-- Reads:  what the holder of a running attempt knows of it. Who: a process that lost the answer to its start; a parent process
--         that settles in place of its child. The child's pid is part of the fence, since a duplicate message may let another
--         child die during the same attempt.
SELECT
-- include shared/started
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
  AND j.status = 'running'
  AND (%(pid)s::int IS NULL OR (
      -- include shared/held_by
  ))  -- guard I3

-- name: has_succeeded
-- Reads:  whether an attempt has ended as a success. Who: the process that ran it, if the answer to the commit of its end is lost;
--         fenced. Index: primary key.
-- Locks:  the row, to wait for that commit: the server may still be at it.
SELECT status = 'success' FROM jobs
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND (
      -- include shared/held_by
  )  -- guard I3
FOR SHARE

-- name: checkpoint
-- Change: the cursor of a running job, and what it has used so far. Who: its holder, fenced, at most once a second. Index: primary key (HOT).
-- Locks:  the row, as `progress`. Returns whether the attempt was asked to stop; no row if nothing was stored.
WITH mine AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
      AND (
          -- include shared/held_by
      )  -- guard I8
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE jobs
SET cursor = %(cursor)s::jsonb, units = coalesce(%(units)s, units)
FROM mine
WHERE jobs.id = mine.id
RETURNING cancel_requested_at IS NOT NULL

-- name: keep_log
-- Change: keep what an attempt logged and printed. Who: the process that ran it, before it settles, and only if there is
--         something. Locks: its row. Index: job_logs_once.
INSERT INTO job_logs (tenant_id, job_id, attempt, text) VALUES (%(tenant_id)s, %(job_id)s, %(attempt)s, %(text)s)
ON CONFLICT (job_id, attempt) DO UPDATE SET tenant_id = excluded.tenant_id, text = excluded.text, at = clock_timestamp()

-- name: progress
-- Change: the progress of a running job, and what it has used so far. Who: its holder, fenced. Index: primary key (HOT).
-- Locks:  the row. If another transaction has locked it, nothing is reported: that may be the body's own, which waits for this.
WITH mine AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'running'  -- guard I3
      AND (
          -- include shared/held_by
      )  -- guard I8
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE jobs
SET progress = %(fraction)s, progress_note = %(note)s, units = coalesce(%(units)s, units)
FROM mine
WHERE jobs.id = mine.id
RETURNING jobs.id

-- name: running_in
-- Reads:  the attempts that these processes are running according to the database. Who: a process that lost its connection
--         while settling, and does not know whether it got the next job of the lane; a feeder that does not know what its
--         trip has started. Index: jobs_one_job_per_slot.
-- Those started after the job that was settled, or the trip. An earlier one is an attempt whose end PostgreSQL has lost, by a failover
-- or a restore: its body has run, and must not run again as the same attempt. Its parent takes it back (reconcile.py).
SELECT
-- include shared/started
, j.worker_pid
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND (j.worker = %(worker)s::uuid AND j.worker_pid = ANY(%(pids)s::int[]))  -- guard I3
  AND j.start_time > %(after)s  -- guard I3

-- name: start
-- Arrow:  start, queued -> running.
-- Who:    the worker process that received the message (job, attempt). A duplicate, late or repeated message finds no row.
-- Locks:  the row. Index: primary key.
UPDATE jobs j
SET status = 'running',
    worker = %(worker)s,
    worker_pid = %(pid)s,
    start_time = coalesce(%(now)s::timestamptz, clock_timestamp())
FROM queues q
WHERE
-- include shared/start
  AND j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
RETURNING
-- include shared/started

-- name: unknown_for
-- Reads:  for how many seconds workers have not known the type of a job: since the first of the latest attempts in a row that
--         ended for this reason. Who: its holder, whose worker does not know the type. Index: failed_attempts_once.
SELECT coalesce(extract(epoch FROM %(start_time)s::timestamptz - min(start_time)), 0)::float8
FROM (
    SELECT start_time, attempt + row_number() OVER (ORDER BY attempt DESC) AS present FROM failed_attempts
    WHERE job_id = %(id)s AND error_class = 'UnknownJobType'
) unknown
WHERE present = %(attempt)s
