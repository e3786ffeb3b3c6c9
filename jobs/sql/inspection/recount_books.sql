-- Change: write the books anew where they are wrong or missing: after a pass that met a wrong one, for tenants that begin to
--         limit their users; and now and then.
-- Who:    a dispatch or the clock, inside the door; elsewhere it writes nothing. Locks: rows that only dispatches write.
-- It passes the tenants to the next fold, which opens their closed lanes; a full one that was wrong is one of these. A 0 for the job would mean that their limits have changed.
-- Returns the wrong books: of what level, its tenant and queue, how many slots it had (null: it was missing), and how many are in
-- use.
WITH
-- include shared/recounted
, inside AS MATERIALIZED (
    SELECT
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
),
lanes_mended AS (
    UPDATE lanes l
    SET version = nextval('door_seq'), in_use = d.n, tickets = d.tickets, state = CASE l.state WHEN 'full' THEN 'closed' ELSE l.state END
    FROM lane_due d CROSS JOIN inside WHERE l.ctid = d.row
),
lanes_made AS (
    INSERT INTO lanes (tenant_id, queue_id, version, position, state, virtual_time, head, waiting, last_user, in_use, tickets)
    SELECT tenant_id, queue_id, nextval('door_seq'), 0, 'empty', 0, 0, 0, '', n, tickets
    FROM lane_due CROSS JOIN inside WHERE row IS NULL
),
turns_mended AS (
    UPDATE queue_turns t SET version = nextval('door_seq'), in_use = d.n, tickets = d.tickets, state = 'ready'
    FROM turn_due d CROSS JOIN inside WHERE t.ctid = d.row
),
turns_made AS (
    INSERT INTO queue_turns (queue_id, version, in_use, tickets)
    SELECT queue_id, nextval('door_seq'), n, tickets FROM turn_due CROSS JOIN inside WHERE row IS NULL
),
tenants_mended AS (
    UPDATE tenant_books b SET version = nextval('door_seq'), in_use = d.n, slots = d.slots, users = d.users
    FROM tenant_due d CROSS JOIN inside WHERE b.ctid = d.row
),
tenants_made AS (
    INSERT INTO tenant_books (tenant_id, version, in_use, slots, users)
    SELECT tenant_id, nextval('door_seq'), n, slots, users FROM tenant_due CROSS JOIN inside WHERE row IS NULL
),
told AS (
    INSERT INTO freed_slots (xid, tenant_id, job_id)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, -1
    FROM (SELECT tenant_id FROM tenant_due UNION SELECT tenant_id FROM lane_due) due CROSS JOIN inside
    ON CONFLICT (xid, tenant_id, job_id) DO NOTHING
)
SELECT book, tenant_id, queue_id, said, n AS in_use FROM wrong CROSS JOIN inside
