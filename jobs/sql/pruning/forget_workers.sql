-- Change: delete workers that have been gone for longer than the history. Who: the clock's upkeep.
-- Index:  none: workers are few; jobs_one_job_per_slot for the jobs in use.
DELETE FROM workers w
WHERE gone_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.slot IS NOT NULL AND j.worker = w.id)  -- guard
