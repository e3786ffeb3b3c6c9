-- Change: set the next due times of schedules, or pause them with a reason. Who: the leading clock, which has locked them.
-- Index:  primary key.
UPDATE schedules s
SET next_due = moved.next_due,
    next_at = moved.next_at,
    last_job_id = coalesce(moved.job_id, s.last_job_id),
    paused = moved.why <> '',
    paused_because = moved.why
FROM jsonb_to_recordset(%(moved)s::jsonb) AS moved (
    id bigint, next_due timestamptz, next_at timestamptz, job_id bigint, why text
)
WHERE s.id = moved.id
