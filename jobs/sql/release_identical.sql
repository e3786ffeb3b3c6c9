-- Change: an unfinished job older than the window gives up its key, so that an identical one may be stored.
-- Who:    submit, when find_identical found none within the window. Not an arrow: the status stays.
-- Locks:  the row, until the caller's transaction ends. Index: jobs_one_identical.
UPDATE jobs j
SET dedup_key = NULL
FROM jsonb_to_recordset(%(requests)s) AS r (place int, tenant_id bigint, dedup_key uuid)
WHERE j.tenant_id = r.tenant_id
  AND j.dedup_key = r.dedup_key
  AND j.end_time IS NULL
  AND j.created_at <= coalesce(%(now)s::timestamptz, clock_timestamp()) - %(window)s * interval '1 second'
