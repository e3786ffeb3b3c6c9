-- Reads:  attempts in this worker that were asked to stop and still run after the grace period. Who: its parent process,
--         which ends their processes; so this needs no other process, and works in a draining worker.
-- Index:  jobs_one_job_per_slot.
SELECT id, attempt, tenant_id, worker_pid FROM jobs
WHERE slot IS NOT NULL
  AND status = 'running'
  AND worker = %(worker)s  -- guard
  AND cancel_requested_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(grace)s * interval '1 second'  -- guard
