-- name: writers_of_jobs
-- Reads:  the transactions that may have written jobs before they could see that a tenant takes no more: those that hold the lock of
--         a writer now. A statement takes that lock before its snapshot, so a later one sees it.
-- Who:    the export of a tenant, after the commit that closes it. Locks: none. Index: none.
SELECT DISTINCT virtualtransaction
FROM pg_locks
WHERE locktype = 'relation'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relation = %(table)s::regclass
  AND mode = 'RowExclusiveLock'
  AND pid <> pg_backend_pid()

-- name: under_way_of_tenant
-- Reads:  what keeps a closed tenant from its file: jobs in slots; news of ends, that no reader has read; and what attempts used, that
--         no dispatch has put into the book. Who: the export. Locks: none. Index: jobs_one_job_per_slot; all news, which are few.
SELECT
    ARRAY(SELECT id FROM jobs WHERE tenant_id = %(tenant)s AND slot IS NOT NULL ORDER BY id) AS jobs,
    EXISTS (
        SELECT FROM job_ends e
        WHERE e.tenant_id = %(tenant)s
           OR EXISTS (SELECT FROM jobs j WHERE j.id = e.job_id AND j.tenant_id = %(tenant)s)  -- guard
           OR EXISTS (SELECT FROM batches b WHERE b.id = e.batch_id AND b.tenant_id = %(tenant)s)  -- guard
    )
    OR EXISTS (SELECT FROM freed_slots WHERE tenant_id = %(tenant)s AND job_id > 0) AS news  -- guard

-- name: numbers_taken
-- Reads:  which of these numbers jobs or batches have. Who: the import of a tenant. Locks: none. Index: primary keys.
SELECT id FROM jobs WHERE id = ANY(%(ids)s)
UNION ALL
SELECT id FROM job_history WHERE id = ANY(%(ids)s)
UNION ALL
SELECT id FROM batches WHERE id = ANY(%(ids)s)

-- name: last_number
-- Reads:  the number that was given to the last job or batch; 0: to none. Who: the import of a tenant. Locks: none.
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass), 0)

-- name: note_departure
-- Change: tell the next dispatch that the jobs of a tenant leave the line, before they are deleted.
-- Who:    the installation that gives a tenant up, in the transaction that deletes its jobs. Locks: none. Index: jobs_of_tenant.
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, NULL, -count(*)::int
FROM jobs
WHERE tenant_id = %(tenant)s
  AND end_time IS NULL  -- guard
GROUP BY queue_id, tenant_id
ON CONFLICT (xid, queue_id, tenant_id) DO UPDATE SET jobs = arrivals.jobs + excluded.jobs

-- name: forget_own_news
-- Change: delete the news that the deletion of the tenant's jobs has left: no job here waits for them. Who: as note_departure, after
--         it. Locks: none, the rows are its own. Index: job_ends_new.
DELETE FROM job_ends WHERE xid = pg_current_xact_id()::text::bigint

-- name: note_arrival
-- Change: tell the next dispatch about the lanes of a tenant that has come, and which of them are held; put what it has used into its
--         book: into a new one, or as news for the one that it has here, of which no dispatch has taken anything meanwhile.
-- Who:    the import of a tenant, in its transaction, after its jobs. Locks: none. Index: jobs_of_tenant; primary keys.
WITH
lane AS (
    INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
    SELECT
        pg_current_xact_id()::text::bigint, queue_id, tenant_id,
        min(CASE WHEN ready_at IS NOT NULL THEN job_place(priority, id) END), count(*)
    FROM jobs
    WHERE tenant_id = %(tenant)s
      AND end_time IS NULL  -- guard
    GROUP BY queue_id, tenant_id
    ON CONFLICT (xid, queue_id, tenant_id) DO UPDATE  -- its older rows have left in this transaction
    SET head = excluded.head, jobs = arrivals.jobs + excluded.jobs
),
held AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, holds)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, -job_id, queue_id, true FROM holds WHERE tenant_id = %(tenant)s
    ON CONFLICT DO NOTHING
),
book AS (
    SELECT used FROM tenant_books WHERE tenant_id = %(tenant)s ORDER BY version DESC LIMIT 1
),
begun AS (
    INSERT INTO tenant_books (tenant_id, version, in_use, slots, used, full_at, full_limit, full_window)
    SELECT %(tenant)s, 0, 0, int4multirange(), %(used)s::jsonb, %(full_at)s::timestamptz, %(full_limit)s::int, %(full_window)s::float8
    WHERE NOT EXISTS (SELECT FROM book)
),
more AS (
    SELECT jsonb_object_agg(month, units) AS units
    FROM book
    CROSS JOIN jsonb_each(%(used)s::jsonb) AS of_month (month, all_units)
    CROSS JOIN LATERAL (SELECT less_units(all_units, book.used -> month) AS units) left_over
    WHERE units IS NOT NULL
)
INSERT INTO freed_slots (xid, tenant_id, job_id, units)
SELECT pg_current_xact_id()::text::bigint, %(tenant)s, -1, units FROM more WHERE units IS NOT NULL

-- name: book_of_tenant
-- Reads:  the book of a tenant, as JSON. Who: the export of the tenant. Locks: none. Index: primary key.
SELECT jsonb_build_object('used', used, 'full_at', full_at, 'full_limit', full_limit, 'full_window', full_window)::text
FROM tenant_books
WHERE tenant_id = %(tenant)s
ORDER BY version DESC
LIMIT 1
