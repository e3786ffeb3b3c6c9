-- The next dispatch is told that a slot is free, what to charge for it, and how many jobs of its lane were run one after the
-- other in it: of `ended` (id, tenant_id, queue_id, timeout, seconds; null if the attempt had not started; followed).
, freed AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, seconds, timeout, followed)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, id, queue_id, seconds, timeout, followed FROM ended
    ON CONFLICT (xid, tenant_id, job_id) DO NOTHING
)
