-- Change: one more minute in which these tenants were full goes into their hour; hours that are over for a day leave.
-- Who:    the recorder, once a minute, under the lock of its row in `recorded`. Locks: rows that only the recorder writes.
-- Index:  the primary key.
WITH over AS (DELETE FROM full_hours WHERE hour < %(hour)s::timestamptz - interval '1 day')
INSERT INTO full_hours AS f (hour, tenant_id, minutes)
SELECT %(hour)s::timestamptz, tenant_id, 1 FROM unnest(%(tenants)s::bigint[]) AS full_ones (tenant_id)
ON CONFLICT (hour, tenant_id) DO UPDATE SET minutes = f.minutes + 1
