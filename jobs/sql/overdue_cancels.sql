-- Reads:  running attempts that were asked to stop longer than the grace period ago. Who: the clock, which has their
--         processes ended. Index: jobs_one_job_per_slot.
SELECT id, attempt FROM jobs
WHERE slot IS NOT NULL
  AND status = 'running'
  AND cancel_requested_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(grace)s * interval '1 second'  -- guard
