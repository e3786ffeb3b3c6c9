-- Arrow:  succeed, running -> success, as in succeed.sql; and follow, created -> running: the next job of the lane, in the same
--         slot, with its ticket and process. If none follows, the slot is free.
-- Who:    the process whose job of this lane has just succeeded, within its time slice; fenced. No count changes at any level,
--         so it needs no door (I1).
-- Locks:  the row, then the row of the next job. It skips locked rows, like the claim.
-- Twin:   `jobs/allocation/follow.py`, in memory.
-- A job that spends a budget, and the next of an attempt that used units, go past the door: it knows what is used up now.
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
        e.slot, e.ticket, e.worker_pid, e.followed + 1 AS followed, lane.opened_at
    FROM settled e CROSS JOIN clock
    -- include shared/may_follow
    CROSS JOIN LATERAL (
        SELECT ctid AS row, tenant_id, source_type, source_method, spends, expires_at FROM jobs
        WHERE ready_at IS NOT NULL
          AND queue_id = e.queue_id AND tenant_id = e.tenant_id
          AND (priority, id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
        ORDER BY priority, id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) j
    WHERE tenant.num_slots >= e.slot  -- guard I1
      AND e.units IS NULL  -- guard
      AND q.pool = worker.pool  -- guard
      AND coalesce(j.expires_at > e.ended_at, true)  -- guard
      AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
      AND j.spends IS NULL  -- guard
),
followed AS (
    UPDATE jobs j
    -- include shared/follows
    FROM next q, clock
    WHERE j.ctid = q.row
    RETURNING
    -- include shared/started
),
ended AS (SELECT * FROM settled WHERE NOT EXISTS (SELECT FROM followed))
-- include shared/freed
SELECT followed.* FROM settled LEFT JOIN followed ON true
