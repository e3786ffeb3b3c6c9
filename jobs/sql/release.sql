-- Arrow:  release, scheduled -> created, for the held jobs whose type is not paused (any more).
-- Who:    whoever resumes a type; the clock, for a job that was submitted while it was being resumed.
-- Locks:  the rows. Index: jobs_due.
UPDATE jobs j
SET status = 'created', ready_at = coalesce(%(now)s::timestamptz, clock_timestamp()), due_at = NULL
WHERE due_at = %(held_until)s  -- guard
  AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
RETURNING id, attempt
