-- Arrow:  lapse, blocked / scheduled / created -> cancelled, with the reason "expired": jobs whose time to start has passed. Or with another
--         reason: jobs whose event did not come in time.
-- Who:    the clock. A start refuses such a job, however late the clock is (shared/start, settling/follow).
-- Locks:  the rows; it skips locked ones until the next pass, so the caller requests a dispatch for those behind them.
-- Change: leave news for the reader of ends of those whose event did come in time.
-- Index:  jobs_expiring; job_events_once.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT j.id, NULL::int AS slot, false AS barred,
        CASE WHEN j.waits_for IS NULL THEN 'expired' ELSE 'its event did not come in time' END AS reason FROM jobs j CROSS JOIN clock
    WHERE j.expires_at <= clock.now  -- guard
      AND (j.due_at IS NOT NULL OR j.ready_at IS NOT NULL OR j.blocked_at IS NOT NULL)  -- guard
      AND NOT EXISTS (
          SELECT FROM job_events e WHERE e.name = j.waits_for
            AND e.tenant_id = j.tenant_id  -- guard I8
            AND e.kept_until > clock.now  -- guard
      )  -- guard
    ORDER BY j.expires_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
noted AS (  -- again: the reader of an older release forgets news of events
    INSERT INTO job_ends (xid, job_id)
    SELECT pg_current_xact_id()::text::bigint, j.id
    FROM clock CROSS JOIN LATERAL (
        SELECT id FROM jobs WHERE expires_at <= clock.now AND blocked_at IS NOT NULL AND waits_for IS NOT NULL
        ORDER BY expires_at
        LIMIT %(batch)s
    ) j
    WHERE j.id NOT IN (SELECT id FROM before)
),
-- include shared/cancelled
