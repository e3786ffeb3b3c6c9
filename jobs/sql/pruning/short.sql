-- name: forget_notices
-- Change: delete the records of notifiers that are not set up any more. Who: the clock's upkeep. A notifier that returns
--         later reports all present dead jobs once more.
DELETE FROM death_notices
WHERE notifier <> ALL (%(notifiers)s::text[])  -- guard
  AND upto < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard

-- name: forget_runs
-- Change: delete the runs of schedules that are older than the history; at most `batch`. Who: the clock's upkeep.
-- Index:  schedule_runs_old. No due time comes back: schedules only go forward (I10).
DELETE FROM schedule_runs
WHERE id IN (
    SELECT id FROM schedule_runs
    WHERE at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard
    ORDER BY at
    LIMIT %(batch)s
)
RETURNING id

-- name: forget_workers
-- Change: delete workers that have been gone for longer than the history. Who: the clock's upkeep.
-- Index:  none: workers are few; jobs_one_job_per_slot for the jobs in use.
DELETE FROM workers w
WHERE gone_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.slot IS NOT NULL AND j.worker = w.id)  -- guard
