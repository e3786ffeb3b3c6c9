-- Change: take these due times, each at most once for ever. Returns those that were still free.
-- Who:    the leading clock, before it submits. Locks: it waits for transactions that are taking the same due times.
INSERT INTO schedule_runs (schedule_id, due, note)
SELECT * FROM unnest(%(schedules)s::bigint[], %(dues)s::timestamptz[], %(notes)s::text[])
ON CONFLICT (schedule_id, due) DO NOTHING  -- guard I10
RETURNING id, schedule_id, due
