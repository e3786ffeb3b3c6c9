-- Arrow:  promote, scheduled -> created, for the due jobs. A due job of a paused type, or one that spends a budget that is used up,
--         is held instead, and one that waits for
--         a running job is due again in a second; they stay scheduled: the returned status tells which.
--         It also ends the holds that are over, of lanes and queues: not before the job is in line that is to be the first then,
--         but five seconds later if a transaction has locked that job: strangers wait for the line. The next fold opens them.
-- Who:    the clock.
-- Locks:  the rows; it skips locked rows, such as those being cancelled, until the next pass.
-- Index:  jobs_due; holds_until; primary key.
-- The batch is chosen once: as a subquery of the UPDATE it could be the inner side of a loop, by stale statistics, and each turn
-- of the loop would choose a further batch.
WITH
-- include shared/clock
due AS MATERIALIZED (
    SELECT j.id, EXISTS (
        SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method
    ) OR
    -- include shared/spent
    AS paused, EXISTS (SELECT FROM jobs b WHERE b.id = j.behind AND b.status = 'running') AS waits
    FROM jobs j
    WHERE j.due_at <= coalesce(%(now)s::timestamptz, clock_timestamp())  -- guard
    ORDER BY j.due_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
promoted AS (
    UPDATE jobs j
    SET status = CASE WHEN due.paused OR due.waits THEN 'scheduled' ELSE 'created' END,
        ready_at = CASE WHEN NOT (due.paused OR due.waits) THEN j.due_at END,
        due_at = CASE
            WHEN due.paused THEN %(held_until)s::timestamptz
            WHEN due.waits THEN clock.now + interval '1 s'
        END
    FROM due CROSS JOIN clock
    WHERE j.id = due.id
    RETURNING j.id, j.attempt, j.status, j.tenant_id, j.queue_id, j.priority, due.paused
),
arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM promoted WHERE status = 'created'
)
-- include shared/arrive
, patience AS (  -- with the job of a hold that is over: until then, or as long as a batch may not have come to it
    SELECT CASE WHEN count(due.id) = %(batch)s THEN '-infinity' ELSE max(clock.now) - interval '5 s' END AS since
    FROM clock LEFT JOIN due ON true
),
past AS (
    DELETE FROM holds WHERE ctid = ANY(ARRAY(
        SELECT h.ctid FROM holds h CROSS JOIN clock CROSS JOIN patience
        WHERE h.until <= clock.now  -- guard
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = h.job_id AND j.due_at <= clock.now AND h.until > patience.since AND j.id NOT IN (SELECT id FROM due))  -- guard
        ORDER BY h.until
        LIMIT %(batch)s
        FOR UPDATE OF h SKIP LOCKED
    ))
    RETURNING queue_id, owner_id, job_id
),
told_of_end AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, holds)
    SELECT pg_current_xact_id()::text::bigint, owner_id, -job_id, queue_id, true FROM past
    ON CONFLICT DO NOTHING
)
SELECT id, attempt, tenant_id, status, paused FROM promoted
