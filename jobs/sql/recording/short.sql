-- name: end_task
-- Change: how far a task of the recorder is, and what it took. Who: the recorder, in the transaction that has recorded it.
-- Locks:  the row.
UPDATE recorded SET upto = %(upto)s, seconds = %(seconds)s WHERE task = %(task)s

-- name: forget_samples
-- Change: deletes the samples from before a moment. Who: the recorder. Locks: the rows. Index: the primary key.
DELETE FROM samples WHERE at < %(moment)s::timestamptz

-- name: forget_changes
-- Change: deletes the changes from before a moment, but for the last ones of what still is; and who left the line before it.
-- Who:    the recorder. Locks: the rows. Index: limit_changes_of_subject; the primary key; left_line_by_time.
WITH
limits AS (
    DELETE FROM limit_changes c
    WHERE at < %(moment)s::timestamptz AND (limits IS NULL OR EXISTS (
        SELECT FROM limit_changes later
        WHERE later.kind = c.kind AND later.subject = c.subject AND later.id > c.id AND later.at < %(moment)s::timestamptz
    ))
),
pools AS (
    DELETE FROM pool_changes c
    WHERE at < %(moment)s::timestamptz AND EXISTS (
        SELECT FROM pool_changes later WHERE later.pool = c.pool AND later.at > c.at AND later.at < %(moment)s::timestamptz
    )
)
DELETE FROM left_line WHERE at < %(moment)s::timestamptz

-- name: record_sample
-- Change: the sample of a minute. Who: the recorder, under the lock of its row in `recorded`. Locks: none.
INSERT INTO samples (at, tenants, queues, pools, states, fairness)
VALUES (
    %(at)s, %(tenants)s::jsonb, %(queues)s::jsonb, %(pools)s::jsonb, %(states)s::jsonb, %(fairness)s::float8
)
ON CONFLICT (at) DO NOTHING

-- name: forget_usage
-- Change: deletes the usage of days before a day. Who: the clock's upkeep, after their marks: those of days with a mark stay.
-- Locks:  the rows. Index: usage_days_by_day, slot_peaks_by_day.
WITH peaks AS (DELETE FROM slot_peaks WHERE day < %(day)s::date)
DELETE FROM usage_days WHERE day < %(day)s::date

-- name: mark_closed
-- Change: the usage of a day is final from now on. Who: the recorder, in the transaction that has billed the day.
-- Locks:  none.
INSERT INTO closed_days (day, closed_at) VALUES (%(day)s::date, %(now)s::timestamptz)

-- name: record_peaks
-- Change: the most slots in use that was found on a day, or on the first one that is not closed. Who: the recorder, once a
--         minute, in the transaction of its sample. Locks: rows that only the recorder writes. Index: the primary key.
INSERT INTO slot_peaks AS p (tenant_id, day, slots)
SELECT tenant_id, greatest(%(day)s::date, (SELECT max(day) + 1 FROM closed_days)), slots
FROM unnest(%(tenants)s::bigint[], %(slots)s::int[]) AS seen (tenant_id, slots)
ON CONFLICT (tenant_id, day) DO UPDATE SET slots = excluded.slots
WHERE p.slots < excluded.slots  -- guard
