-- Reads:  the attempt that this process is running according to the database. Who: a process that lost its connection
--         while settling, and does not know whether it got the next job of the lane. Index: jobs_one_job_per_slot.
-- That one started after the job that was settled. An earlier one is an attempt whose end PostgreSQL has lost, by a failover
-- or a restore: its body has run, and must not run again as the same attempt. Its parent takes it back (reconcile.py).
SELECT
-- include shared/started
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND j.worker = %(worker)s AND j.worker_pid = %(pid)s  -- guard I3
  AND j.start_time > %(after)s  -- guard I3
