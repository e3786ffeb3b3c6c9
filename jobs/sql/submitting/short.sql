-- name: lock_identities
-- Locks:  one transaction of a tenant at a time decides about calls of one identity, of those that the newest wins or that are
--         gathered. Over HTTP it waits only briefly. Sorted, so that two batches cannot deadlock.
-- Who:    submit, before it looks for identical jobs.
WITH
-- include shared/briefly
line AS (SELECT * FROM unnest(%(tenants)s::bigint[], %(buckets)s::int[]) AS line (tenant_id, bucket))
SELECT pg_advisory_xact_lock(hashtext('jobs.identical:' || tenant_id), bucket) FROM briefly CROSS JOIN line

-- name: debounce
-- Change: a debounced job that has not been tried waits on for a further call, and takes its arguments; but no longer than so
--         many delays after its first call. Not an arrow: the status stays.
-- Who:    submit, for the jobs that have the identity of such calls. Those that it misses are ready by now, or on.
-- Locks:  the rows, by id, until the caller's transaction ends. Index: primary key.
WITH
-- include shared/clock
asked AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(calls)s::jsonb) AS call (
        id bigint, delay float8, args jsonb, priority smallint, user_key text, timeout float8, memory int, max_retries int,
        expires float8, expires_at timestamptz
    )
),
found AS MATERIALIZED (
    SELECT j.id FROM jobs j
    WHERE j.id IN (SELECT id FROM asked)
      AND j.status = 'scheduled'  -- guard
      AND j.attempt = 0  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE
),
due AS (
    SELECT asked.*, CASE
        WHEN j.due_at = %(held_until)s THEN j.due_at
        ELSE least(clock.now + asked.delay * interval '1 s', greatest(clock.now, j.created_at + %(most)s * asked.delay * interval '1 s'))
    END AS due_at
    FROM found JOIN asked USING (id) JOIN jobs j USING (id) CROSS JOIN clock
)
UPDATE jobs
SET due_at = due.due_at,
    args = due.args,
    priority = due.priority,
    user_key = due.user_key,
    timeout = due.timeout,
    memory = due.memory,
    max_retries = due.max_retries,
    expires_at = coalesce(due.expires_at, due.due_at + due.expires * interval '1 s')
FROM due
WHERE jobs.id = due.id
RETURNING jobs.id, jobs.status, jobs.due_at

-- name: make_way
-- Change: make jobs give up their key to newer calls. Returns each with the running job that the new one must wait for: itself,
--         or the one that it waits for itself.
-- Who:    submit, in the transaction that replaces them. Locks: the rows, by id, until then. Index: primary key.
WITH old AS MATERIALIZED (
    SELECT id, status, behind FROM jobs WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE
),
given_up AS (
    UPDATE jobs SET dedup_key = NULL FROM old WHERE jobs.id = old.id
)
SELECT old.id, CASE
    WHEN old.status = 'running' THEN old.id
    ELSE (SELECT b.id FROM jobs b WHERE b.id = old.behind AND b.status = 'running')
END
FROM old

-- name: outdate
-- Change: a newer call waits for the end of these running jobs: they are not tried again, and those in `stopping` are asked to
--         stop. Returns these. Not an arrow: the holder ends the job.
-- Who:    submit, after it has stored the new jobs. Locks: the rows, by id, until the caller's transaction ends.
-- Index:  primary key.
UPDATE jobs
SET replaced_by = a.new,
    cancel_requested_at = CASE
        WHEN a.stops THEN coalesce(cancel_requested_at, %(now)s::timestamptz, clock_timestamp()) ELSE cancel_requested_at
    END
FROM (
    SELECT j.id, call.new, j.id = ANY(%(stopping)s) AS stops
    FROM jobs j JOIN unnest(%(olds)s::bigint[], %(news)s::bigint[]) AS call (old, new) ON call.old = j.id
    WHERE j.status = 'running'  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j
) a
WHERE jobs.id = a.id
RETURNING jobs.id, a.stops
