-- name: tell
-- Change: keep an event of a tenant, and leave news of it for the reader of ends; unless one of this name is kept,
--         or the tenant has left. Returns its id.
-- Who:    anybody who may act for the tenant, in the caller's transaction. Locks: the name, against another one who tells it; over
--         HTTP it waits only briefly. Index: job_events_once.
-- kept_until: a link can be used until then, so its event is kept at least so long: the link works once.
WITH
-- include shared/clock
-- include shared/briefly
told AS (
    INSERT INTO job_events (tenant_id, name, payload, told_at, kept_until)
    SELECT %(tenant_id)s, %(name)s, %(payload)s::jsonb, clock.now,
        greatest(clock.now + %(keep)s * interval '1 second', %(kept_until)s::timestamptz)
    FROM clock CROSS JOIN briefly
    WHERE NOT EXISTS (
        SELECT FROM tenant_queues q WHERE q.tenant_id = %(tenant_id)s AND q.moving NOT IN ('', 'closing')
    )  -- guard
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET payload = excluded.payload, told_at = excluded.told_at, kept_until = excluded.kept_until
    WHERE job_events.kept_until <= excluded.told_at  -- guard
    RETURNING id, tenant_id, name
),
news AS (
    INSERT INTO job_ends (xid, tenant_id, event)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, name FROM told
)
SELECT id FROM told
