-- Reads:  the unfinished job, submitted within the window, that each request is identical to.
-- Who:    submit, for the requests that were not stored. Locks: none. Index: jobs_one_identical.
SELECT r.place, j.id
FROM jsonb_to_recordset(%(requests)s) AS r (place int, tenant_id bigint, dedup_key uuid)
JOIN jobs j ON j.tenant_id = r.tenant_id AND j.dedup_key = r.dedup_key AND j.end_time IS NULL
WHERE j.created_at > coalesce(%(now)s::timestamptz, clock_timestamp()) - %(window)s * interval '1 second'
