-- name: give_back
-- Change: free due times that this transaction took but could not serve. Who: the leading clock.
DELETE FROM schedule_runs r
USING jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due

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
