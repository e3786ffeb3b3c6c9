-- Arrow:  lapse, blocked / scheduled / created -> cancelled, with the reason "expired": jobs whose time to start has passed. Or with another
--         reason: jobs whose event did not come in time.
-- Who:    the clock. A start refuses such a job, however late the clock is (shared/start, settling/follow).
-- Locks:  the rows; it skips locked ones until the next pass, so the caller requests a dispatch for those behind them.
-- Index:  jobs_expiring; job_events_once.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT j.id, NULL::int AS slot, false AS barred,
        CASE WHEN j.waits_for IS NULL THEN 'expired' ELSE 'its event did not come in time' END AS reason FROM jobs j CROSS JOIN clock
    WHERE j.expires_at <= clock.now  -- guard
      AND (j.due_at IS NOT NULL OR j.ready_at IS NOT NULL OR j.blocked_at IS NOT NULL)  -- guard
      AND NOT EXISTS (  -- the reader is about to open it
        SELECT FROM job_events e
        WHERE e.tenant_id = j.tenant_id AND e.name = j.waits_for AND e.kept_until > clock.now
      )  -- guard
    ORDER BY j.expires_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
-- include shared/cancelled
