-- Change: record the job of each due time, or the reason why it got none. Who: the leading clock, in the transaction of
--         the jobs.
UPDATE schedule_runs r
SET job_id = run.job_id, note = run.note
FROM jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz, job_id bigint, note text)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due
