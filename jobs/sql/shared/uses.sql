-- What each lane and each tenant has in use, as sets: all of them are read once. users: of a tenant that limits its users.
lane_use AS MATERIALIZED (
    SELECT tenant_id, queue_id, l.in_use - coalesce(g.n, 0) AS n
    FROM lanes l
    LEFT JOIN (
        SELECT tenant_id, queue_id, count(*)::int AS n FROM given_back GROUP BY tenant_id, queue_id
    ) g USING (tenant_id, queue_id)
    WHERE l.in_use > coalesce(g.n, 0)
),
tenant_use AS MATERIALIZED (
    SELECT tenant_id, b.in_use - coalesce(g.n, 0) AS n,
        CASE WHEN g.n > 0 THEN tally(b.users, g.users, -1) ELSE b.users END AS users
    FROM tenant_books b
    LEFT JOIN (
        SELECT tenant_id, count(*)::int AS n, array_agg(user_key) AS users FROM given_back GROUP BY tenant_id
    ) g USING (tenant_id)
),
