-- Arrow:  retry, running -> scheduled, due after its backoff; the failed attempt is kept. Or snooze, which uses no retry: the job
--         asked to run again later, or its worker does not know its type. The attempt number is not reused: otherwise it would
--         not fence. It may also hold its lane (`hold` is tenant), or its queue, until it is due: the next fold learns of it.
-- Who:    its holder, or the parent process that ended the holder at its hard time limit; fenced. Not if a stop was
--         requested, or a newer call has replaced it.
-- Locks:  the row. Index: primary key. The queue that the job leaves is charged.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT queue_id, slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'scheduled',
        due_at = clock.now + %(delay)s * interval '1 second',
        slot = NULL,
        crashes = 0,
        retries = retries + %(retried)s::int,
        queue_id = coalesce((SELECT q.id FROM queues q WHERE q.name = %(queue)s), jobs.queue_id),
        stats = coalesce(%(stats)s, stats),
        cursor = coalesce(%(cursor)s::jsonb, cursor),
        units = coalesce(%(units)s, units),
        peak_memory = %(peak_memory)s,
        last_error = coalesce(%(error_class)s::text || ': ' || %(error)s::text, last_error)
    -- include holder/fenced
      AND cancel_requested_at IS NULL  -- guard
      AND replaced_by IS NULL  -- guard
    RETURNING
        -- include holder/charged
        , before.queue_id, jobs.queue_id AS next_queue_id,
        CASE %(retried)s::int WHEN 0 THEN 'snooze' ELSE 'retry' END AS outcome
),
arriving AS (SELECT next_queue_id AS queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
, held AS (
    INSERT INTO holds (queue_id, tenant_id, job_id, attempt, owner_id, held_at, until, why)
    SELECT queue_id, CASE %(hold)s::text WHEN 'tenant' THEN tenant_id ELSE 0 END, id, attempt, tenant_id, ended_at,
        ended_at + %(delay)s * interval '1 second', %(why)s
    FROM ended WHERE %(hold)s::text IS NOT NULL
),
told_of_hold AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, holds)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, -id, queue_id, true
    FROM ended WHERE %(hold)s::text IS NOT NULL
    ON CONFLICT DO NOTHING
)
-- include shared/failed_attempt
-- include holder/freed
