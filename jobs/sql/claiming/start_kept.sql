-- Arrow:  start, queued -> running, without a message.
-- Who:    a worker process, in the pipeline of its dispatch, after the commit: it starts the job that its claim kept for it
--         (claim/keep.sql). If it cannot, the process handles that job like one of a message.
-- Locks:  the row; not if another transaction has locked it, since messages of other jobs wait for this answer. Index: primary key.
UPDATE jobs j
SET status = 'running',
    worker = %(worker)s,
    worker_pid = %(pid)s,
    start_time = coalesce(%(now)s::timestamptz, clock_timestamp())
FROM queues q
WHERE
-- include shared/start
  AND j.id = (
    SELECT k.id FROM jobs k
    WHERE k.id = (string_to_array(nullif(current_setting('jobs.kept', true), ''), ' '))[1]::bigint
      AND k.attempt = (string_to_array(nullif(current_setting('jobs.kept', true), ''), ' '))[2]::int  -- guard I3
    FOR NO KEY UPDATE SKIP LOCKED
  )
RETURNING
-- include shared/started
