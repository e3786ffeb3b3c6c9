-- The row in `attempts` of each attempt that ended. The statement says from where: every ended attempt once, and none that
-- had not started. No lock and no unique index: the fence of the statement lets each attempt end once.
INSERT INTO attempts (
    ended_at, start_time, queued_at, waited_since, own_until, job_id, tenant_id, queue_id, worker, worker_pid, attempt, result_bytes,
    peak_memory, priority, outcome, source_type, source_method, user_key, units
)
SELECT
    ended_at, start_time, queued_at, waited_since, own_until, id, tenant_id, queue_id, worker, worker_pid, attempt, result_bytes,
    peak_memory, priority, outcome, source_type, source_method, user_key, units
