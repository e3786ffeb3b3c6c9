-- Arrow:  succeed, running -> success, of many attempts of one worker, as in succeed.sql; and follow, created -> running, as in
--         follow.sql: for those whose time slice goes on (`goes_on`), the next jobs of their lanes start in their slots and
--         processes, with their tickets. Whose job does not follow, its slot is free.
-- Who:    the feeder of a light pool, for its worker; each row is fenced by its attempt and process. An attempt that is not returned
--         was not settled. No count changes at any level, so it needs no door (I1).
-- Locks:  the rows, in the order of the arrays, which the caller sorts by id; then the next jobs. It skips locked ones, since all
--         seats of the worker wait for this answer; the caller settles what was skipped by itself.
-- Index:  primary key; jobs_claim, from the head of each lane.
-- The first unlocked jobs of a lane, in their order, follow in its slots, the lowest first.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT t.*, j.slot FROM unnest(
        %(ids)s::bigint[], %(attempts)s::int[], %(pids)s::int[], %(stats)s::text[], %(ttls)s::float8[], %(sizes)s::int[],
        %(since)s::timestamptz[], %(goes_on)s::bool[], %(units)s::text[]
    ) AS t (id, attempt, pid, stats, ttl, bytes, since, goes_on, units)
    CROSS JOIN LATERAL (
        SELECT slot FROM jobs WHERE id BETWEEN t.id AND t.id
        ORDER BY id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) j
),
settled AS (
    UPDATE jobs
    SET status = 'success',
        slot = NULL,
        end_time = clock.now,
        stats = before.stats::jsonb,
        units = coalesce(before.units::jsonb, jobs.units),
        progress = CASE WHEN progress >= 0 THEN 1 END,
        last_error = '',
        cursor = NULL,
        peak_memory = NULL,  -- a process has many seats: what it used was not of one attempt
        result_bytes = before.bytes,
        result_expires_at = clock.now + before.ttl * interval '1 s'
    FROM clock CROSS JOIN before
    WHERE jobs.id = before.id
      AND jobs.attempt = before.attempt  -- guard I3
      AND status = 'running'  -- guard I3
      AND worker = %(worker)s::uuid  -- guard I3
      AND worker_pid = before.pid  -- guard I3
    RETURNING
        -- include shared/ended
        , extract(epoch FROM clock.now - coalesce(before.since, start_time))::float8 AS seconds,
        followed, false AS lost, queue_id, status AS outcome, before.goes_on
),
logged AS (
    -- include shared/attempt
    FROM settled
),
freeing AS MATERIALIZED (
    SELECT id, queue_id, tenant_id, slot, ticket, followed, worker_pid,
        row_number() OVER (ORDER BY queue_id, tenant_id, slot) AS place
    FROM settled WHERE goes_on
      AND units IS NULL  -- guard
),
-- The same in one row: a job finds its slot by its place. A join of two lists would compare each job with each slot.
seats AS MATERIALIZED (
    SELECT array_agg(id ORDER BY place) AS ids, array_agg(slot ORDER BY place) AS slots, array_agg(ticket ORDER BY place) AS tickets,
        array_agg(followed ORDER BY place) AS follows, array_agg(worker_pid ORDER BY place) AS pids
    FROM freeing
),
next AS MATERIALIZED (
    SELECT j.row, q.*, tenant.num_slots, lane.opened_at,
        e.place + row_number() OVER (PARTITION BY e.queue_id, e.tenant_id ORDER BY j.priority, j.id) AS place
    FROM (SELECT queue_id, tenant_id, count(*)::int AS n, min(place) - 1 AS place FROM freeing GROUP BY queue_id, tenant_id) e
    CROSS JOIN clock
    -- include shared/may_follow
    CROSS JOIN LATERAL (
        SELECT ctid AS row, tenant_id, source_type, source_method, spends, expires_at, priority, id, attempt FROM jobs
        WHERE ready_at IS NOT NULL
          AND queue_id = e.queue_id AND tenant_id = e.tenant_id
          AND (priority, id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
        ORDER BY priority, id
        LIMIT e.n
        FOR NO KEY UPDATE SKIP LOCKED
    ) j
    WHERE q.pool = worker.pool  -- guard
      AND coalesce(j.expires_at > clock.now, true)  -- guard
      AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
      AND j.spends IS NULL  -- guard
      AND NOT (
          -- include shared/suspect
      )  -- guard
),
followed AS (
    UPDATE jobs j
    -- include shared/follows
    FROM (
        SELECT n.*, ids[place] AS ended_id, slots[place] AS slot, tickets[place] AS ticket, follows[place] + 1 AS followed,
            pids[place] AS worker_pid
        FROM next n CROSS JOIN seats
        WHERE n.num_slots >= slots[place]  -- guard I1
    ) q, clock
    WHERE j.ctid = q.row
    RETURNING
    -- include shared/started
    , q.ended_id
),
ended AS (SELECT * FROM settled WHERE id NOT IN (SELECT ended_id FROM followed))
-- include shared/freed
SELECT settled.id AS ended, settled.attempt AS ended_attempt, followed.* FROM settled LEFT JOIN followed ON followed.ended_id = settled.id
