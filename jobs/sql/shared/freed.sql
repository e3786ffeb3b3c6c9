-- Tell the next dispatch about the slots freed in `ended`, and what it charges for them: id, tenant_id, queue_id, user_key,
-- slot and ticket (null if the job held no slot), timeout, seconds since the start (0 if the attempt had not started; null if
-- the job held no slot), followed, the number of further jobs of its lane that ran in the slot, and lost, whether the attempt
-- ended its process; and ended_at and units, what the attempt used, for the book of its tenant.
, freed AS (
    INSERT INTO freed_slots (
        xid, tenant_id, job_id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost_process, units
    )
    SELECT
        pg_current_xact_id()::text::bigint, tenant_id, id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost,
        CASE WHEN units IS NOT NULL THEN jsonb_build_object(month_of(ended_at), units) END
    FROM ended
    ON CONFLICT DO NOTHING
)
