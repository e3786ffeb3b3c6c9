-- Reads:  attempts that run in this worker and were asked to stop longer than the grace period ago. Who: its parent process,
--         which ends theirs; so nobody else has to be reached, and one that drains sees to it as well.
-- Index:  jobs_one_job_per_slot.
SELECT id, attempt, worker_pid FROM jobs
WHERE slot IS NOT NULL
  AND status = 'running'
  AND worker = %(worker)s  -- guard
  AND cancel_requested_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(grace)s * interval '1 second'  -- guard
