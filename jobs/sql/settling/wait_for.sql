-- Arrow:  wait_for, running -> blocked, without a slot, until an event of its tenant comes: its body has raised WaitFor. No retry and
--         no crash is counted. From now on it expires with its patience: it has started in time.
-- Who:    its holder, fenced. Not if a stop was requested, or a newer call has replaced it.
-- Locks:  the row. Index: primary key. Its news has the reader of ends look for the event, which may have come before.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'blocked',
        blocked_at = clock.now,
        waits_for = %(event)s,
        expires_at = clock.now + %(patience)s * interval '1 second',
        slot = NULL,
        crashes = 0,
        cursor = coalesce(%(cursor)s::jsonb, cursor),
        stats = coalesce(%(stats)s, stats),
        units = coalesce(%(units)s, units),
        peak_memory = %(peak_memory)s
    -- include holder/fenced
      AND cancel_requested_at IS NULL  -- guard
      AND replaced_by IS NULL  -- guard
    RETURNING
        -- include holder/charged
        , queue_id, 'wait_for' AS outcome
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
, news AS (
    INSERT INTO job_ends (xid, job_id) SELECT pg_current_xact_id()::text::bigint, id FROM ended
)
-- include holder/freed
