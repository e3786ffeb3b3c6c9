-- Change: append calls to the jobs that gather them. Such a job takes the most urgent priority, and expires as late as the last call's
--         own job would. One that is full, or has no room for these, or has started, gives up its key: the next call is a new job. If it
--         waits for its moment, it is due now. Not an arrow: the clock promotes what is due. Returns each job, and whether it took the calls.
-- Who:    submit, for gathered calls, one transaction of a tenant and an identity at a time (lock_identities); no two of one identity.
-- Locks:  the rows, by id, until the caller's transaction ends: a claim skips them until then. It waits for a claim or a start; then
--         the row as that left it decides.
-- Index:  jobs_one_identical, primary key.
WITH
-- include shared/clock
-- include shared/briefly
asked AS MATERIALIZED (
    SELECT call.*, same.id
    FROM jsonb_to_recordset(%(calls)s::jsonb) AS call (
        nth int, tenant_id bigint, dedup_key uuid, calls jsonb, most int, priority smallint, delay float8, expires float8
    )
    CROSS JOIN briefly
    CROSS JOIN LATERAL (
        SELECT j.id FROM jobs j
        WHERE j.tenant_id = call.tenant_id AND j.dedup_key BETWEEN call.dedup_key AND call.dedup_key AND j.end_time IS NULL
        ORDER BY j.dedup_key  -- as in submit
        LIMIT 1
    ) same
    WHERE NOT EXISTS (
        SELECT FROM tenant_queues t WHERE t.tenant_id = call.tenant_id AND t.moving NOT IN ('', 'closing')
    )  -- guard
),
mine AS MATERIALIZED (
    SELECT
        j.id, j.attempt, j.due_at, j.expires_at, j.priority AS priority_before,
        asked.nth, asked.most, asked.priority, asked.delay, asked.expires,
        jsonb_set(j.args, '{calls}', (j.args -> 'calls') || asked.calls) AS args
    FROM jobs j JOIN asked USING (id)
    WHERE j.end_time IS NULL  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j
),
taking AS MATERIALIZED (
    SELECT id, jsonb_array_length(args -> 'calls') = most AS full_then
    FROM mine CROSS JOIN clock
    WHERE attempt = 0  -- guard
      AND (expires_at IS NULL OR expires_at > clock.now)  -- guard
      AND jsonb_array_length(args -> 'calls') <= most  -- guard
      AND octet_length(args::text) <= %(bytes)s  -- guard
),
due_now AS MATERIALIZED (
    SELECT mine.id FROM mine LEFT JOIN taking USING (id)
    WHERE coalesce(taking.full_then, true)
      AND mine.attempt = 0  -- guard
      AND mine.due_at < %(held_until)s::timestamptz  -- guard
),
gathered AS (
    UPDATE jobs
    SET args = CASE WHEN t.id IS NOT NULL THEN m.args ELSE jobs.args END,
        priority = CASE WHEN t.id IS NOT NULL THEN least(jobs.priority, m.priority) ELSE jobs.priority END,
        expires_at = CASE WHEN t.id IS NOT NULL AND jobs.expires_at IS NOT NULL THEN nullif(greatest(
            jobs.expires_at, coalesce(clock.now + (m.delay + m.expires) * interval '1 s', 'infinity')
        ), 'infinity') ELSE jobs.expires_at END,
        dedup_key = CASE WHEN NOT t.full_then THEN jobs.dedup_key END,
        due_at = CASE WHEN d.id IS NOT NULL THEN least(jobs.due_at, clock.now) ELSE jobs.due_at END
    FROM mine m LEFT JOIN taking t USING (id) LEFT JOIN due_now d USING (id) CROSS JOIN clock
    WHERE jobs.id = m.id
    RETURNING jobs.id, jobs.tenant_id, jobs.queue_id, jobs.priority, jobs.status, jobs.ready_at, jobs.due_at,
        m.nth, m.priority_before, t.id IS NOT NULL AS took, d.id IS NOT NULL AS due
),
arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs
    FROM gathered WHERE ready_at IS NOT NULL AND priority < priority_before
)
-- include shared/arrive
SELECT gathered.nth, gathered.id, gathered.status, gathered.due_at, gathered.took
FROM gathered CROSS JOIN (  -- as a submit of a job that is due later does
    SELECT count(pg_notify('jobs_due', ''))
    FROM (SELECT FROM gathered WHERE due LIMIT 1) due
    WHERE pg_notification_queue_usage() < 0.9
) woken
