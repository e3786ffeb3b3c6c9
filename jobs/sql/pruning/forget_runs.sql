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
