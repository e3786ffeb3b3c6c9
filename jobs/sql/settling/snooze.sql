-- Arrow:  snooze, running -> scheduled: the job asked to run again later. It is not a failure and uses no retry.
-- Who:    its holder, fenced. The attempt number is not reused: otherwise it would not fence. Not if a stop was requested,
--         or a newer call has replaced it.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'scheduled',
        due_at = clock.now + %(delay)s * interval '1 second',
        slot = NULL,
        crashes = 0,
        stats = %(stats)s,
        peak_memory = %(peak_memory)s
    -- include holder/fenced
      AND cancel_requested_at IS NULL  -- guard
      AND replaced_by IS NULL  -- guard
    RETURNING
        -- include holder/charged
        , queue_id, 'snooze' AS outcome
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
-- include holder/freed
