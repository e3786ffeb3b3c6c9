-- Change: these due times are taken; each once for all time. Returns those that nobody had taken before.
-- Who:    the leading clock, before it submits. Locks: a due time that is being taken elsewhere is waited for.
INSERT INTO schedule_runs (schedule_id, due, note)
SELECT schedule_id, due, note FROM jsonb_to_recordset(%(runs)s::jsonb) AS run (schedule_id bigint, due timestamptz, note text)
ON CONFLICT (schedule_id, due) DO NOTHING  -- guard I10
RETURNING schedule_id, due
