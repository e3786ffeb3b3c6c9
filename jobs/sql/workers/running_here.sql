-- Reads:  the attempts that run in this worker, with their processes, and whether they were asked to stop and still run after
--         the grace period. Who: its parent process, which compares them with what its processes hold; so this needs no
--         other process, and works in a draining worker.
-- Index:  jobs_one_job_per_slot.
SELECT
    id, attempt, tenant_id, worker_pid,
    coalesce(cancel_requested_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(grace)s * interval '1 second', false)
FROM jobs
WHERE slot IS NOT NULL
  AND status = 'running'  -- guard I3
  AND worker = %(worker)s  -- guard
