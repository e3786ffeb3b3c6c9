-- Arrow:  hand_back, running -> created, at its old place in its lane: its body was asked to give the slot back, and has stopped at a
--         checkpoint. No retry and no crash is counted; the next attempt gets the cursor. It does not expire any more: it has
--         started in time.
-- Who:    its holder, fenced. Not if a stop was requested, or a newer call has replaced it.
-- Locks:  the row. Index: primary key. If its type is paused, the next start puts it off.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'created',
        ready_at = clock.now,
        expires_at = NULL,
        slot = NULL,
        crashes = 0,
        handed_back = handed_back + 1,
        handed_back_why = %(why)s,
        cursor = coalesce(%(cursor)s::jsonb, cursor),
        stats = coalesce(%(stats)s, stats),
        units = coalesce(%(units)s, units),
        peak_memory = %(peak_memory)s
    -- include holder/fenced
      AND cancel_requested_at IS NULL  -- guard
      AND replaced_by IS NULL  -- guard
    RETURNING
        -- include holder/charged
        , queue_id, 'hand_back' AS outcome, handed_back
),
arriving AS (SELECT queue_id, tenant_id, job_place(priority, id) AS place, 1 AS jobs FROM ended)
-- include shared/arrive
-- include shared/freed
, logged AS (
    -- include shared/attempt
    FROM ended
)
SELECT id, attempt, handed_back FROM ended
