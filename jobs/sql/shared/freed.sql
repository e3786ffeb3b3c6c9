-- Tell the next dispatch about the slots freed in `ended`: id, tenant_id, queue_id, timeout, seconds to charge (null if the
-- attempt had not started), and followed, the number of further jobs of its lane that ran in the slot.
, freed AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, seconds, timeout, followed)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, id, queue_id, seconds, timeout, followed FROM ended
    ON CONFLICT (xid, tenant_id, job_id) DO NOTHING
)
