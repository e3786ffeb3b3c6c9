-- name: find_lane
-- Change: tell the next dispatch about a waiting job whose lane was lost, and that it may be held by no job: a repair, which should
--         never be needed.
-- Who:    the inspection. Locks: none. Index: primary key.
WITH arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM jobs
    WHERE id = ANY(%(ids)s) AND ready_at IS NOT NULL
)
-- include shared/arrive
, told AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, holds)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, -id, queue_id, true FROM jobs
    WHERE id = ANY(%(ids)s) AND ready_at IS NOT NULL
    ON CONFLICT DO NOTHING
)
SELECT count(*) FROM arriving

-- name: open_lanes
-- Change: tell the next dispatch about tenants with a lane that waits for a token for longer than their rate limit can require:
--         PostgreSQL's clock was set back. A lane that rests does not wait for a token.
-- Who:    the clock. Locks: none. Index: lanes_opening; primary key.
WITH
-- include shared/clock
late AS (
    SELECT DISTINCT l.tenant_id
    FROM clock
    CROSS JOIN LATERAL (
        SELECT tenant_id, opens_at FROM lanes WHERE opens_at > clock.now AND opens_at < '9999-12-31 00:00+00' ORDER BY opens_at
    ) l
    JOIN tenant_queues t ON t.tenant_id = l.tenant_id
    WHERE l.opens_at > clock.now + t.rate_window * interval '1 second'
)
INSERT INTO freed_slots (xid, tenant_id, job_id)
SELECT pg_current_xact_id()::text::bigint, tenant_id, 0 FROM late
ON CONFLICT DO NOTHING

-- name: wrong_books
-- Reads:  the books that are wrong: of what level, its tenant and queue, how many slots it has (null: it is missing), and how many
--         are in use. In one snapshot books and jobs agree, whatever happens meanwhile. Who: the inspection. Locks: none.
WITH
-- include shared/recounted
SELECT book, tenant_id, queue_id, said, n AS in_use FROM wrong
