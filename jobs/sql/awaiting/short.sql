-- name: hear
-- Reads:  nothing; this transaction becomes the reader of ends, unless another one is. Who: a dispatch that sees news of ends.
-- Locks:  an advisory lock that no transaction waits for: a dispatch that does not get it leaves, and the reader looks again after its commit.
-- own: the transaction is the dispatch's own, not a caller's; then no plan depends on an estimate.
SELECT
    set_config('jobs.reader', pg_try_advisory_xact_lock(hashtext('jobs.reader'), 0)::text, true),
    set_config('jit', CASE WHEN %(own)s THEN 'off' ELSE current_setting('jit') END, true),
    set_config('enable_seqscan', CASE WHEN %(own)s THEN 'off' ELSE current_setting('enable_seqscan') END, true),
    set_config('enable_hashjoin', CASE WHEN %(own)s THEN 'off' ELSE current_setting('enable_hashjoin') END, true),
    set_config('enable_mergejoin', CASE WHEN %(own)s THEN 'off' ELSE current_setting('enable_mergejoin') END, true)

-- name: is_news
-- Reads:  whether there is news of ends beside those rows, which the caller has just written. Who: the reader, after its commit:
--         dispatches that found it reading have left. Locks: none. Index: primary key.
SELECT EXISTS (SELECT FROM job_ends WHERE id <> ALL(%(beside)s::bigint[]))

-- name: note_edges
-- Change: store that the new jobs wait for these; and store news of each predecessor, so that the reader marks it, or sees its end.
-- Who:    submit, in the caller's transaction. Locks: none: no predecessor may wait for the end of that transaction.
WITH edge AS (
    INSERT INTO job_edges (predecessor_id, follower_id, whatever, patience)
    SELECT * FROM unnest(
        %(predecessors)s::bigint[], %(followers)s::bigint[], %(whatever)s::bool[], %(patience)s::float8[]
    )
    RETURNING predecessor_id
)
INSERT INTO job_ends (xid, job_id)
SELECT DISTINCT pg_current_xact_id()::text::bigint, predecessor_id FROM edge

-- name: note_sequences
-- Change: store news of the sequences of new jobs, so that the reader looks whose turn it is. Who: submit, in the caller's transaction.
-- Locks:  none.
INSERT INTO job_ends (xid, tenant_id, sequence)
SELECT DISTINCT pg_current_xact_id()::text::bigint, tenant_id, sequence
FROM unnest(%(tenants)s::bigint[], %(sequences)s::text[]) AS new (tenant_id, sequence)

-- name: unknown
-- Reads:  those of the ids that are no job or batch of the tenant's. Who: submit. Locks: none. Index: the primary keys.
SELECT asked.id FROM unnest(%(ids)s::bigint[]) AS asked (id)
WHERE NOT EXISTS (
    SELECT FROM all_jobs j
    WHERE j.id = asked.id
      AND j.tenant_id = %(tenant_id)s  -- guard I8
)
AND NOT EXISTS (
    SELECT FROM batches b
    WHERE b.id = asked.id
      AND b.tenant_id = %(tenant_id)s  -- guard I8
)
ORDER BY asked.id
