-- Arrow:  replace, blocked / scheduled / created / queued -> cancelled, with the reason "replaced by" and the id of the new job.
-- Who:    submit, for jobs that have made way, in the transaction that stores the new ones. The message of a queued one finds no
--         row at its start.
-- Locks:  the rows, by id, until the caller's transaction ends. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT j.id, j.slot, false AS barred, 'replaced by ' || call.new AS reason
    FROM jobs j JOIN unnest(%(olds)s::bigint[], %(news)s::bigint[]) AS call (old, new) ON call.old = j.id
    WHERE j.status IN ('blocked', 'scheduled', 'created', 'queued')  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j
),
-- include shared/cancelled
