-- Reads:  like read_job, wherever the job is. Who: the same client, if `read_job` found nothing. Locks: none.
-- Index:  the primary key of the jobs, and of each partition of the history.
SELECT
-- include read_job/columns
FROM all_jobs j
JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.tenant_id = %(tenant_id)s  -- guard I8
