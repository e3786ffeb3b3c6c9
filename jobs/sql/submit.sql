-- Arrow:  submit, to created, or to scheduled when it is due later or its job type is paused.
-- Who:    anybody, inside the caller's own transaction.
-- Locks:  an identical job being stored elsewhere is waited for; sorted by key, so that two batches cannot deadlock.
-- Index:  jobs_one_identical decides which of two identical requests is stored.
-- Returns the place in the batch and the id of each stored job; a missing place has an identical job already.
WITH request AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('jobs', 'id')) AS id, r.*
    FROM (
        SELECT *
        FROM jsonb_to_recordset(%(requests)s) AS given (
            place int, tenant_id bigint, queue text, priority smallint, user_key text,
            source_type text, source_id text, source_method text, args jsonb,
            dedup_key uuid, timeout float8, memory int, max_retries int, delay float8, at timestamptz
        )
        ORDER BY place  -- ids grow in the order of submission: it is the order of the line (I6)
    ) r
),
clock AS (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now),
stored AS (
    INSERT INTO jobs (
        id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, timeout,
        memory, max_retries,
        status, created_at, ready_at, due_at,
        attempt, crashes, retries, progress_note, stats, last_error
    )
    SELECT
        r.id, r.tenant_id, q.id, r.priority, r.user_key, r.source_type, r.source_id, r.source_method, r.args,
        r.dedup_key, r.timeout, r.memory, r.max_retries,
        CASE WHEN due.at IS NULL THEN 'created' ELSE 'scheduled' END,
        clock.now,
        CASE WHEN due.at IS NULL THEN clock.now END,
        due.at,
        0, 0, 0, '', '{}', ''
    FROM request r
    JOIN queues q ON q.name = r.queue
    CROSS JOIN clock
    LEFT JOIN paused_job_types p ON p.source_type = r.source_type AND p.source_method = r.source_method
    CROSS JOIN LATERAL (
        SELECT coalesce(
            r.at,
            clock.now + nullif(r.delay, 0) * interval '1 second',
            CASE WHEN p.id IS NOT NULL THEN %(held_until)s::timestamptz END
        ) AS at
    ) due
    ORDER BY r.tenant_id, r.dedup_key, r.place
    ON CONFLICT (tenant_id, dedup_key) WHERE dedup_key IS NOT NULL AND end_time IS NULL DO NOTHING  -- guard I5
    RETURNING id, tenant_id, queue_id, priority, ready_at
),
arriving AS (
    SELECT queue_id, tenant_id, CASE WHEN ready_at IS NOT NULL THEN job_place(priority, id) END AS place, 1 AS jobs FROM stored
)
-- include shared/arrive
SELECT request.place, stored.id FROM stored JOIN request USING (id)
