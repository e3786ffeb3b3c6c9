-- Change: due times that were taken in this transaction, and could not be served, are free again. Who: the leading clock.
DELETE FROM schedule_runs r
USING jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz)
WHERE r.schedule_id = run.schedule_id AND r.due = run.due
