-- Tell the next dispatch about the slots freed in `ended`, and what it charges for them: id, tenant_id, queue_id, user_key,
-- slot and ticket (null if the job held no slot), timeout, seconds since the start (0 if the attempt had not started; null if
-- the job held no slot), followed, the number of further jobs of its lane that ran in the slot, and lost, whether the attempt
-- ended its process.
, freed AS (
    INSERT INTO freed_slots (
        xid, tenant_id, job_id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost_process
    )
    SELECT
        pg_current_xact_id()::text::bigint, tenant_id, id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost
    FROM ended
    ON CONFLICT DO NOTHING
)
