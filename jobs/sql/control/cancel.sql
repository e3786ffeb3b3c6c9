-- Arrow:  cancel, blocked / scheduled / created / queued -> cancelled. The message of a queued one finds no row at its start.
-- Who:    its tenant (tenant given), or an operator (null), after whom the tenant cannot revive the job.
-- Locks:  the rows, briefly, in the order of their ids, so that no two cancels deadlock. The claim skips them meanwhile, so the
--         caller requests a dispatch afterwards.
-- Index:  primary key. `before` locks the rows, so it says what the update changes, even if a job moves meanwhile.
WITH
-- include shared/clock
-- include shared/briefly
before AS MATERIALIZED (
    SELECT id, slot, %(tenant_id)s::bigint IS NULL AS barred, NULL AS reason FROM jobs j CROSS JOIN briefly
    WHERE id = ANY(%(ids)s::bigint[])
      AND status IN ('blocked', 'scheduled', 'created', 'queued')  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
    ORDER BY id
    FOR NO KEY UPDATE OF j
),
-- include shared/cancelled
