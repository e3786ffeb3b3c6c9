-- The next dispatch is told that a slot is free, and what to charge for it: of `ended` (id, tenant_id, queue_id, timeout, and
-- seconds; null if the attempt had not started).
, freed AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, seconds, timeout)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, id, queue_id, seconds, timeout FROM ended
    ON CONFLICT (xid, tenant_id, job_id) DO NOTHING
)
