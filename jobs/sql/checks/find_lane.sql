-- Change: tell the next dispatch about a waiting job whose lane was lost: a repair, which should never be needed.
-- Who:    check. Locks: none. Index: primary key.
WITH arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM jobs
    WHERE id = ANY(%(ids)s) AND ready_at IS NOT NULL
)
-- include shared/arrive
SELECT count(*) FROM arriving
