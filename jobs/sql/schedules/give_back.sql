-- Change: free due times that this transaction took but could not serve. Who: the leading clock.
DELETE FROM schedule_runs r
USING jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due
