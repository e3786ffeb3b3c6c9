-- Arrow:  restore, from the history to created: a new series of attempts, with the failed attempts of the old ones. Or block, to
--         blocked, if it is in a sequence.
-- Who:    its tenant (tenant given), or an operator (null), who revives it.
-- Locks:  the row. Index: the primary key of each partition.
-- The columns are as `revive` leaves them: for a user the two verbs are one.
WITH
-- include shared/clock
taken AS (
    DELETE FROM job_history
    WHERE id = %(id)s
      AND status IN ('error', 'cancelled')  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
      AND (%(tenant_id)s::bigint IS NULL OR NOT barred)  -- guard
      AND dedup_key IS DISTINCT FROM %(erased)s  -- guard
    RETURNING *
),
restored AS (
    INSERT INTO jobs (
        id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args,
        max_retries, timeout, memory, status, ready_at,
        attempt, worker, worker_pid, created_at, waited_since, own_until, queued_at, handed_at, start_time,
        stats, last_error, result_expires_at, peak_memory, result_bytes,
        trace_parent, cursor, event,
        crashes, barred, retries, progress_note, awaited, predecessors, batch_id, announced,
        sequence, sequence_stops, units, spends, blocked_at
    )
    SELECT
        id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args,
        max_retries, timeout, memory,
        CASE WHEN sequence IS NULL THEN 'created' ELSE 'blocked' END, CASE WHEN sequence IS NULL THEN clock.now END,
        attempt, worker, worker_pid, created_at, waited_since, own_until, queued_at, handed_at, start_time,
        stats, last_error, result_expires_at, peak_memory, result_bytes,
        trace_parent, cursor, event,
        0, false, 0, '', EXISTS (SELECT FROM job_edges e WHERE e.predecessor_id = taken.id), predecessors, batch_id,
        EXISTS (
            SELECT FROM webhook_endpoints e
            WHERE e.tenant_id = taken.tenant_id
              AND e.off_at IS NULL  -- guard
        ),
        sequence, sequence_stops, units, spends, CASE WHEN sequence IS NOT NULL THEN clock.now END
    FROM taken CROSS JOIN clock
    RETURNING id, attempt, tenant_id, queue_id, priority, status
),
kept AS (
    INSERT INTO failed_attempts (job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time)
    SELECT taken.id, a.* FROM taken CROSS JOIN jsonb_to_recordset(taken.failed_attempts) AS a (
        attempt int, error_class text, error text, traceback text, worker uuid,
        queued_at timestamptz, start_time timestamptz, end_time timestamptz
    )
),
news AS (
    INSERT INTO job_ends (xid, batch_id, tenant_id, sequence, error, cancelled)
    SELECT pg_current_xact_id()::text::bigint, batch_id, CASE WHEN sequence IS NOT NULL THEN tenant_id END, sequence,
        -(status = 'error')::int, -(status = 'cancelled')::int
    FROM taken WHERE batch_id IS NOT NULL OR sequence IS NOT NULL
),
unbound AS (
    DELETE FROM job_edges WHERE follower_id IN (SELECT id FROM restored WHERE status = 'blocked')
),
arriving AS (
    SELECT queue_id, tenant_id, CASE WHEN status = 'created' THEN job_place(priority, id) END AS place, 1 AS jobs FROM restored
)
-- include shared/arrive
SELECT id, attempt, tenant_id, status FROM restored
