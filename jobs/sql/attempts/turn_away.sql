-- Arrow:  turn_away, queued -> cancelled, with the reason "expired": its time to start has passed after it was handed over.
-- Who:    the worker process that received the message, fenced. Locks: the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT j.id, j.slot, false AS barred, 'expired' AS reason FROM jobs j CROSS JOIN clock
    WHERE j.id = %(id)s
      AND j.attempt = %(attempt)s  -- guard I3
      AND j.status = 'queued'  -- guard I3
      AND j.expires_at <= clock.now  -- guard
    FOR NO KEY UPDATE OF j
),
-- include shared/cancelled
