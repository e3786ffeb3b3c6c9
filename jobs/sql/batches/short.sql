-- name: begin_cancel
-- Change: store the cancel of a batch, which later goes through its jobs; one that is under way begins anew, as the new caller's.
-- Who:    its tenant, or an operator (null), whose cancel stays an operator's. Locks: the row. Index: primary keys.
INSERT INTO batch_cancels (batch_id, tenant_id, bulk)
SELECT id, %(tenant_id)s::bigint, %(bulk)s FROM batches
WHERE id = %(id)s
  AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
ON CONFLICT (batch_id) DO UPDATE
SET bulk = excluded.bulk, after = 0, tenant_id = CASE WHEN batch_cancels.tenant_id IS NOT NULL THEN excluded.tenant_id END
RETURNING batch_id

-- name: close_batch
-- Change: from now on only its own jobs add to this batch. Who: its tenant, or an operator (null). Locks: the row. Index: primary
--         key.
WITH closed AS (
    UPDATE batches SET closed_at = coalesce(%(now)s::timestamptz, clock_timestamp())
    WHERE id = %(id)s
      AND closed_at IS NULL  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
    RETURNING id
),
news AS (
    INSERT INTO job_ends (xid, batch_id) SELECT pg_current_xact_id()::text::bigint, id FROM closed
)
SELECT id FROM closed

-- name: close_forgotten
-- Change: close open batches to which nothing was added for so many seconds, and whose jobs all have ended; at most `batch`. Who: the
--         clock's upkeep. Locks: the rows; it skips locked ones. Index: jobs_of_batch, job_history_of_batch; it reads all batches.
-- A transaction that adds to such a batch at this moment has changed `added`, or finds it closed.
WITH forgotten AS MATERIALIZED (
    SELECT b.id FROM batches b
    WHERE b.closed_at IS NULL  -- guard
      AND b.created_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard
      AND b.added = (SELECT t.success + t.error + t.dead + t.cancelled FROM batch_tallies t WHERE t.batch_id = b.id)  -- guard
      AND NOT EXISTS (
          SELECT FROM all_jobs j
          WHERE j.batch_id = b.id
            AND j.created_at >= coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard
      )
    ORDER BY b.id
    LIMIT %(batch)s
    FOR UPDATE OF b SKIP LOCKED
),
closed AS (
    UPDATE batches b SET closed_at = coalesce(%(now)s::timestamptz, clock_timestamp()) FROM forgotten WHERE b.id = forgotten.id
    RETURNING b.id
),
news AS (
    INSERT INTO job_ends (xid, batch_id) SELECT pg_current_xact_id()::text::bigint, id FROM closed
)
SELECT id FROM closed

-- name: forget_batches
-- Change: delete batches that are older than the history of their tenant, whose jobs all have ended and are gone, and that no job
--         waits for; at most `batch`. Who: the clock's upkeep. Locks: the rows; it skips locked ones. Index: primary keys,
--         jobs_of_batch, job_history_of_batch.
-- A transaction that adds to such a batch at this moment has changed `added`, or finds no batch.
WITH old AS MATERIALIZED (
    SELECT b.id
    FROM batches b
    LEFT JOIN tenant_queues limits ON limits.tenant_id = b.tenant_id
    WHERE b.created_at < coalesce(%(now)s::timestamptz, clock_timestamp())
              - least(%(seconds)s * interval '1 second', limits.history_days * interval '1 day')  -- guard
      AND b.added = (SELECT t.success + t.error + t.dead + t.cancelled FROM batch_tallies t WHERE t.batch_id = b.id)  -- guard
      AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id)  -- guard
      AND NOT EXISTS (SELECT FROM job_history j WHERE j.batch_id = b.id)  -- guard
      AND NOT EXISTS (SELECT FROM job_edges e WHERE e.predecessor_id = b.id)  -- guard
    ORDER BY b.id
    LIMIT %(batch)s
    FOR UPDATE OF b SKIP LOCKED
),
tally AS (
    DELETE FROM batch_tallies t USING old WHERE t.batch_id = old.id
)
DELETE FROM batches b USING old WHERE b.id = old.id
RETURNING b.id

-- name: grow_batch
-- Change: count the new jobs of a batch. Who: the transaction that adds them: any caller's while the batch is open, later only one of
--         its running jobs. Locks: the row, until that transaction ends; the reader of ends skips it. Index: primary keys.
UPDATE batches b SET added = added + %(jobs)s
WHERE b.id = %(id)s
  AND b.tenant_id = %(tenant_id)s  -- guard I8
  AND (b.closed_at IS NULL OR EXISTS (SELECT FROM jobs j WHERE j.id = %(caller)s AND j.attempt = %(attempt)s AND j.batch_id = b.id AND j.status = 'running'))  -- guard
RETURNING b.id

-- name: open_batch
-- Change: a new batch, with a number of the series of the jobs. Who: any caller, inside the caller's own transaction. Locks: none.
WITH made AS (
    INSERT INTO batches (id, tenant_id, name, user_key)
    SELECT nextval((SELECT pg_get_serial_sequence('jobs', 'id')::regclass)), t.id, %(name)s, %(user_key)s
    FROM tenants_tenant t
    WHERE t.id = %(tenant_id)s  -- guard
    RETURNING id
),
tally AS (
    INSERT INTO batch_tallies (batch_id) SELECT id FROM made
)
SELECT id FROM made

-- name: read_batches
-- Reads:  batches of a tenant (or of all) with the outcomes of their jobs: those of the given numbers, or the newest before a number.
-- Who:    pages, API and commands. Locks: none. Index: primary key, batches_of_tenant; jobs_one_job_per_slot, jobs_open_of_batch.
SELECT
    b.id, b.tenant_id, b.name, b.user_key, b.created_at, b.closed_at, b.added AS total,
    EXISTS (SELECT FROM batch_cancels c WHERE c.batch_id = b.id) AS cancelling,
    t.success, t.error, t.dead, t.cancelled,
    (SELECT count(*)::int FROM jobs j WHERE j.tenant_id = b.tenant_id AND j.slot IS NOT NULL AND j.batch_id = b.id) AS running,
    (SELECT j.created_at FROM jobs j WHERE j.batch_id = b.id AND j.end_time IS NULL ORDER BY j.id LIMIT 1) AS oldest
FROM batches b
JOIN batch_tallies t ON t.batch_id = b.id
WHERE (%(ids)s::bigint[] IS NULL OR b.id = ANY(%(ids)s::bigint[]))
  AND b.id < %(before)s
  AND b.tenant_id = coalesce(%(tenant_id)s::bigint, b.tenant_id)  -- guard I8
ORDER BY b.id DESC
LIMIT %(most)s
