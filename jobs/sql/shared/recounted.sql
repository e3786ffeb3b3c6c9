-- The books as they should be, where they are not: what the jobs in slots hold, and what was given back, but no fold has taken
-- off yet. One snapshot sees each job either in its slot or as a row that frees it. row: null if the book is missing. begins: only
-- its users have to be counted, since the tenant begins to limit them, or the next fold will forget them (fold.sql).
-- Index: jobs_one_job_per_slot; all of lanes, queue_turns and tenant_books. For a tenant that limits its users, they count.
holding AS MATERIALIZED (
    SELECT tenant_id, queue_id, user_key, slot, ticket FROM jobs WHERE slot IS NOT NULL
    UNION ALL
    SELECT tenant_id, queue_id, user_key, slot, ticket FROM freed_slots WHERE slot IS NOT NULL
),
lane_due AS MATERIALIZED (
    SELECT tenant_id, queue_id, l.row, coalesce(h.n, 0) AS n, coalesce(h.tickets, 0) AS tickets, l.in_use AS said
    FROM (SELECT ctid AS row, tenant_id, queue_id, in_use, tickets FROM lanes) l
    FULL JOIN (
        SELECT tenant_id, queue_id, count(*)::int AS n, sum(ticket)::bigint AS tickets FROM holding GROUP BY tenant_id, queue_id
    ) h USING (tenant_id, queue_id)
    WHERE (l.in_use, l.tickets) IS DISTINCT FROM (coalesce(h.n, 0), coalesce(h.tickets, 0))
      AND (l.row IS NOT NULL OR EXISTS (SELECT FROM tenants_tenant t WHERE t.id = tenant_id))  -- a deleted one has none
),
turn_due AS MATERIALIZED (
    SELECT queue_id, t.row, coalesce(h.n, 0) AS n, coalesce(h.tickets, 0) AS tickets, t.in_use AS said
    FROM (SELECT ctid AS row, queue_id, in_use, tickets FROM queue_turns) t
    FULL JOIN (
        SELECT queue_id, count(*)::int AS n, sum(ticket)::bigint AS tickets FROM holding GROUP BY queue_id
    ) h USING (queue_id)
    WHERE (t.in_use, t.tickets) IS DISTINCT FROM (coalesce(h.n, 0), coalesce(h.tickets, 0))
),
tenant_due AS MATERIALIZED (
    SELECT tenant_id, b.row, coalesce(h.n, 0) AS n, coalesce(h.slots, '{}') AS slots, users.counts AS users,
        b.in_use AS said, (b.in_use, b.slots) = (coalesce(h.n, 0), coalesce(h.slots, '{}')) AND (b.users IS NULL OR EXISTS (
            SELECT FROM freed_slots f WHERE f.tenant_id = b.tenant_id AND (f.job_id = 0 OR f.followed > 0)
        )) AS begins
    FROM (SELECT ctid AS row, tenant_id, in_use, slots, users FROM tenant_books) b
    FULL JOIN (
        SELECT tenant_id, count(*)::int AS n, range_agg(int4range(slot, slot + 1)) AS slots, array_agg(user_key) AS users
        FROM holding GROUP BY tenant_id
    ) h USING (tenant_id)
    LEFT JOIN tenant_queues q USING (tenant_id)
    CROSS JOIN LATERAL (SELECT CASE WHEN q.user_slots IS NOT NULL THEN tally('{}', h.users, 1) END AS counts) users
    WHERE ((b.in_use, b.slots) IS DISTINCT FROM (coalesce(h.n, 0), coalesce(h.slots, '{}'))
           OR (q.user_slots IS NOT NULL AND b.users IS DISTINCT FROM users.counts))
      AND (b.row IS NOT NULL OR EXISTS (SELECT FROM tenants_tenant t WHERE t.id = tenant_id))
),
wrong AS (
    SELECT 'lane' AS book, tenant_id, queue_id, said, n FROM lane_due
    UNION ALL
    SELECT 'queue', NULL, queue_id, said, n FROM turn_due
    UNION ALL
    SELECT 'tenant', tenant_id, NULL, said, n FROM tenant_due WHERE begins IS NOT TRUE
)
