-- Reads:  one job of a tenant, with the columns that the tenant sees. Who: a client that follows a job. Locks: none.
-- Index:  primary key.
SELECT
    -- In the order of the fields of AnyJob.
    q.name, j.tenant_id, j.queue_id, j.priority, j.user_key, j.source_type, j.source_id, j.source_method, j.args,
    j.batch_id, j.dedup_key, j.sequence, j.status, j.attempt, j.crashes, j.barred, j.retries, j.max_retries, j.worker, j.created_at, j.due_at, j.ready_at, j.expires_at, j.waited_since, j.own_until,
    j.queued_at, j.start_time, j.end_time, j.cancel_requested_at, j.progress, j.progress_note, j.stats, j.last_error, j.reason,
    j.result_expires_at, j.peak_memory, j.result_bytes, j.id
FROM jobs j
JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.tenant_id = %(tenant_id)s  -- guard I8
