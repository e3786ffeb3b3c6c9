-- Arrow:  retry, running -> scheduled, due after its backoff; the failed attempt is kept.
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
        retries = retries + 1,
        queue_id = coalesce((SELECT q.id FROM queues q WHERE q.name = %(queue)s), jobs.queue_id),
        stats = coalesce(%(stats)s, stats),
        peak_memory = %(peak_memory)s,
        last_error = %(error_class)s || ': ' || %(error)s
    -- include holder/fenced
      AND cancel_requested_at IS NULL  -- guard
      AND replaced_by IS NULL  -- guard
    RETURNING
        -- include holder/charged
        , before.queue_id, jobs.queue_id AS next_queue_id, 'retry' AS outcome
),
arriving AS (SELECT next_queue_id AS queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
-- include shared/failed_attempt
-- include holder/freed
