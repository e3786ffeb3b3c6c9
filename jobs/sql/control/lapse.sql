-- Arrow:  lapse, blocked / scheduled / created -> cancelled, with the reason "expired": jobs whose time to start has passed.
-- Who:    the clock. A start refuses such a job, however late the clock is (shared/start, settling/follow).
-- Locks:  the rows; it skips locked ones until the next pass, so the caller requests a dispatch for those behind them.
-- Index:  jobs_expiring.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT j.id, NULL::int AS slot, false AS barred, 'expired' AS reason FROM jobs j CROSS JOIN clock
    WHERE j.expires_at <= clock.now  -- guard
      AND (j.due_at IS NOT NULL OR j.ready_at IS NOT NULL OR j.blocked_at IS NOT NULL)  -- guard
    ORDER BY j.expires_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
-- include shared/cancelled
