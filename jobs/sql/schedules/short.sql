-- name: advance
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

-- name: give_back
-- Change: free due times that this transaction took but could not serve. Who: the leading clock.
DELETE FROM schedule_runs r
USING jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due

-- name: next_run
-- Reads:  seconds until the next schedule is due (negative: late); null if none is. Who: the leading clock.
-- Index:  schedules_next, its first entry.
SELECT extract(epoch FROM next_at - clock_timestamp())::float8
FROM schedules
WHERE next_at IS NOT NULL
ORDER BY next_at
LIMIT 1

-- name: note_look
-- Change: a clock runs and looks, now. Who: the leading clock, every few seconds, in its loop: no schedule holds that up.
-- Locks:  the row of its own in `recorded`. Index: primary key.
WITH
-- include shared/clock
-- include shared/missed
look AS (SELECT missed.upto, clock.now FROM missed CROSS JOIN clock)
INSERT INTO recorded AS r (task, upto, at)
SELECT 'missed', upto, now FROM look
ON CONFLICT (task) DO UPDATE SET upto = excluded.upto, at = excluded.at

-- name: submitted
-- Change: record the job of each due time, or the reason why it got none. Who: the leading clock, in the transaction of
--         the jobs.
UPDATE schedule_runs r
SET job_id = run.job_id, note = run.note
FROM jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz, job_id bigint, note text)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due

-- name: take
-- Change: take these due times, each at most once for ever. Returns those that were still free.
-- Who:    the leading clock, before it submits. Locks: it waits for transactions that are taking the same due times.
INSERT INTO schedule_runs (schedule_id, due, note)
SELECT schedule_id, due, note FROM jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz, note text)
ON CONFLICT (schedule_id, due) DO NOTHING  -- guard I10
RETURNING schedule_id, due
