-- Arrow:  succeed, running -> success, as in succeed.sql; and follow, created -> running: the next job of the lane, in the same
--         slot, with its ticket and process. If none follows, the slot is free.
-- Who:    the process whose job of this lane has just succeeded, within its time slice; fenced. No count changes at any level,
--         so it needs no door (I1). Lanes with further limits (a rate, a queue's concurrency, slots per user) need the door:
--         in them no job follows.
-- Locks:  the row, then the row of the next job. It skips locked rows, like the claim.
-- Twin:   `jobs/allocation/follow.py`, in memory.
-- Index:  primary key; jobs_claim, from the lane's head as the door knows it, so that it does not read ended jobs again and again.
-- The ticket is that of the slot, not a new one: the books go on.
-- The row counts the jobs that have followed in its slot. So the statement that ends the slice, or that finds its process dead,
-- can tell the door how many jobs wait no longer.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
settled AS (
    -- include holder/succeeded
),
logged AS (
    -- include shared/attempt
    FROM settled
),
next AS MATERIALIZED (
    SELECT
        j.row, q.*,
        e.slot, e.ticket, e.followed + 1 AS followed, lane.opened_at
    FROM settled e
    CROSS JOIN LATERAL (
        SELECT name, pool, default_timeout, default_max_retries, default_backoff, backoff_grows FROM queues
        WHERE id BETWEEN e.queue_id AND e.queue_id
          AND NOT paused  -- guard
          AND concurrency IS NULL  -- guard I1
          AND rate_limit IS NULL  -- guard
        ORDER BY id
        LIMIT 1
    ) q
    CROSS JOIN LATERAL (
        SELECT FROM tenant_queues
        WHERE tenant_id BETWEEN e.tenant_id AND e.tenant_id
          AND NOT paused  -- guard
          AND num_slots >= e.slot  -- guard I1
          AND user_slots IS NULL  -- guard I1
          AND rate_limit IS NULL  -- guard
        ORDER BY tenant_id
        LIMIT 1
    ) tenant
    CROSS JOIN LATERAL (
        SELECT pool FROM workers
        WHERE id BETWEEN %(worker)s::uuid AND %(worker)s::uuid
          AND gone_at IS NULL  -- guard I3
          AND concurrency > 0  -- guard
        ORDER BY id
        LIMIT 1
    ) worker
    CROSS JOIN LATERAL (
        SELECT head, CASE WHEN state = 'closed' THEN e.ended_at ELSE opened_at END AS opened_at FROM lanes
        WHERE tenant_id = e.tenant_id AND queue_id = e.queue_id
        ORDER BY version DESC
        LIMIT 1
    ) lane
    CROSS JOIN LATERAL (
        SELECT ctid AS row, source_type, source_method, expires_at FROM jobs
        WHERE ready_at IS NOT NULL
          AND queue_id = e.queue_id AND tenant_id = e.tenant_id
          AND (priority, id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
        ORDER BY priority, id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) j
    WHERE q.pool = worker.pool  -- guard
      AND coalesce(j.expires_at > e.ended_at, true)  -- guard
      AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
),
followed AS (
    UPDATE jobs j
    SET status = 'running',
        slot = q.slot,
        ticket = q.ticket,
        followed = q.followed,
        waited_since = ready_at, own_until = greatest(ready_at, q.opened_at),
        ready_at = NULL,
        attempt = attempt + 1,
        queued_at = clock.now,
        handed_at = NULL,
        start_time = clock.now,
        worker = %(worker)s,
        worker_pid = %(pid)s,
        peak_memory = NULL,
        progress = NULL,
        progress_note = ''
    FROM next q, clock
    WHERE j.ctid = q.row
    RETURNING
    -- include shared/started
),
ended AS (SELECT * FROM settled WHERE NOT EXISTS (SELECT FROM followed))
-- include shared/freed
SELECT followed.* FROM settled LEFT JOIN followed ON true
