-- Arrow:  cancel, scheduled / created / queued -> cancelled. The message of a queued one finds no row at its start.
-- Who:    its tenant (tenant given), or an operator (null), whose word is the last: the tenant cannot revive it.
-- Locks:  the row, shortly: the claim skips it meanwhile, so whoever cancels asks for a dispatch afterwards.
-- Index:  primary key. One that moves meanwhile may be counted wrong among those that wait; the clock counts anew.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs
    SET status = 'cancelled',
        due_at = NULL,
        ready_at = NULL,
        slot = NULL,
        end_time = clock.now,
        barred = %(tenant_id)s::bigint IS NULL
    FROM clock CROSS JOIN before
    WHERE id = %(id)s
      AND status IN ('scheduled', 'created', 'queued')  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
    RETURNING id, attempt, tenant_id, queue_id, timeout, NULL::float8 AS seconds, 0 AS followed, before.slot IS NULL AS was_waiting
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, -1 AS jobs FROM ended WHERE was_waiting)
-- include shared/arrive
-- include shared/freed
SELECT id, attempt FROM ended
