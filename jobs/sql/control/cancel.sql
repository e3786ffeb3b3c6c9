-- Arrow:  cancel, scheduled / created / queued -> cancelled. The message of a queued one finds no row at its start.
-- Who:    its tenant (tenant given), or an operator (null), after whom the tenant cannot revive the job.
--         A queued one kept a process from others: it is charged that time, but a second at most, since brokers may be slow.
-- Locks:  the row, briefly. The claim skips it meanwhile, so the caller requests a dispatch afterwards.
-- Index:  primary key. `before` locks the row, so it says what the update changes, even if the job moves meanwhile.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT id, slot FROM jobs
    WHERE id = %(id)s
      AND status IN ('scheduled', 'created', 'queued')  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
    FOR NO KEY UPDATE
),
ended AS (
    UPDATE jobs
    SET status = 'cancelled',
        due_at = NULL,
        ready_at = NULL,
        slot = NULL,
        end_time = clock.now,
        barred = %(tenant_id)s::bigint IS NULL
    FROM clock CROSS JOIN before
    WHERE jobs.id = before.id
    RETURNING
        jobs.id, attempt, tenant_id, queue_id, user_key, timeout, before.slot, ticket, before.slot IS NULL AS was_waiting,
        CASE WHEN before.slot IS NOT NULL THEN worked(queued_at, clock.now, 1) END AS seconds, 0 AS followed,
        false AS lost
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, -1 AS jobs FROM ended WHERE was_waiting)
-- include shared/arrive
-- include shared/freed
SELECT id, attempt, tenant_id FROM ended
