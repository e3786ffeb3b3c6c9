-- Reads:  the attempt that this process is running, by the database's word. Who: a process that lost its connection while it
--         settled, and so does not know whether the next job of the lane was given to it. Index: jobs_one_job_per_slot.
SELECT j.id, j.attempt, j.tenant_id, j.source_type, j.source_id, j.source_method, j.args::text AS args,
    j.retries, j.max_retries, q.default_max_retries, q.default_backoff,
    coalesce(j.timeout, q.default_timeout, %(default_timeout)s) AS timeout, j.memory, j.start_time
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND j.worker = %(worker)s AND j.worker_pid = %(pid)s  -- guard I3
