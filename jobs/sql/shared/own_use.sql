-- What the tenant of each of `job` has in use, and each of its users if it limits them. Index: the newest version of its book.
own_use AS MATERIALIZED (
    SELECT t.tenant_id, coalesce(b.in_use, 0) - g.n AS n, tally(b.users, g.users, -1) AS users
    FROM (SELECT DISTINCT tenant_id FROM job) t
    LEFT JOIN LATERAL (
        SELECT in_use, users FROM tenant_books b WHERE b.tenant_id = t.tenant_id ORDER BY version DESC LIMIT 1
    ) b ON true
    CROSS JOIN LATERAL (
        SELECT count(*)::int AS n, array_agg(user_key) AS users FROM given_back g WHERE g.tenant_id = t.tenant_id
    ) g
),
