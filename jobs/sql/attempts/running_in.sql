-- Reads:  the attempt that this process is running according to the database. Who: a process that lost its connection
--         while settling, and does not know whether it got the next job of the lane. Index: jobs_one_job_per_slot.
SELECT
-- include shared/started
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND j.worker = %(worker)s AND j.worker_pid = %(pid)s  -- guard I3
