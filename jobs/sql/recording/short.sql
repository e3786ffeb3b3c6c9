-- name: forget_changes
-- Change: delete the changes before a moment, except the last one of each subject that still exists; and the records of jobs that
--         left the line before it.
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

-- name: record_peaks
-- Change: the most slots in use that was found on a day, or on the first one that is not closed. Who: the recorder, once a
--         minute, in the transaction of its sample. Locks: rows that only the recorder writes. Index: the primary key.
INSERT INTO slot_peaks AS p (tenant_id, day, slots)
SELECT tenant_id, greatest(%(day)s::date, (SELECT max(day) + 1 FROM closed_days)), slots
FROM unnest(%(tenants)s::bigint[], %(slots)s::int[]) AS seen (tenant_id, slots)
ON CONFLICT (tenant_id, day) DO UPDATE SET slots = excluded.slots
WHERE p.slots < excluded.slots  -- guard

-- name: record_slots
-- Change: what the slots of tenants did in a minute goes into their hour; hours that are over for a day leave.
-- Who:    the recorder, once a minute, in the transaction of its sample. Locks: rows that only the recorder writes.
-- Index:  the primary key.
WITH over AS (DELETE FROM slot_hours WHERE hour < %(hour)s::timestamptz - interval '1 day')
INSERT INTO slot_hours AS h (hour, tenant_id, seconds, most)
SELECT %(hour)s::timestamptz, tenant_id, seconds, most
FROM unnest(%(tenants)s::bigint[], %(seconds)s::float8[], %(most)s::int[]) AS fresh (tenant_id, seconds, most)
ON CONFLICT (hour, tenant_id) DO UPDATE SET seconds = h.seconds + excluded.seconds, most = greatest(h.most, excluded.most)
