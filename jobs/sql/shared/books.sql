-- The books for a statement that only reads: the slots in use, less those given back that no fold has taken off yet. One
-- snapshot sees what the jobs hold at its moment. Index: the newest version of each turn; of freed_slots only such rows.
untaken AS MATERIALIZED (  -- from which xid on no fold has taken the arrivals and freed slots (see fold.sql)
    SELECT CASE WHEN d.since <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        THEN least(d.since, (SELECT min(xid) FROM unnest(d.unseen) AS unseen (xid))) ELSE 0 END AS xid
    FROM (SELECT) always LEFT JOIN LATERAL (SELECT since, unseen FROM door ORDER BY version DESC LIMIT 1) d ON true
),
given_back AS MATERIALIZED (
    SELECT f.tenant_id, f.queue_id, f.user_key, f.ticket
    FROM untaken CROSS JOIN LATERAL (SELECT * FROM freed_slots WHERE xid >= untaken.xid ORDER BY xid) f
    WHERE f.slot IS NOT NULL
),
turn AS (
    SELECT
        q.*, t.row, t.state, t.opened_at, t.virtual_time, t.pool_time, t.lane_time, t.head, t.circle_end, t.round_least,
        t.growth, t.round_growth, t.timed_at, t.full_at, t.full_limit, t.full_window, t.mean_seconds, t.in_use - coalesce(g.n, 0) AS in_use, t.tickets - coalesce(g.tickets, 0) AS tickets
    FROM queues q
    LEFT JOIN LATERAL (
        SELECT ctid AS row, * FROM queue_turns WHERE queue_id = q.id ORDER BY version DESC LIMIT 1
    ) t ON true
    LEFT JOIN (
        SELECT queue_id, count(*)::int AS n, sum(ticket)::bigint AS tickets FROM given_back GROUP BY queue_id
    ) g ON g.queue_id = q.id
),
