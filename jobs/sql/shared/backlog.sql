-- The number of waiting jobs of the tenant `asked`: the counts of its lanes, and the arrivals since. Of these at most the
-- newest 1,000 of all tenants are read: more lie there only while no dispatch comes through the door, and a submit must not
-- slow down for that (10,000 of them cost it 3 ms). The bound may be exceeded by what it misses. If the last ANALYZE found
-- next to none, PostgreSQL expects a few and reads all, until autovacuum has looked again: within a minute.
SELECT coalesce(sum(jobs), 0) AS jobs
FROM (
    SELECT lane.waiting AS jobs
    FROM queues q
    CROSS JOIN LATERAL (
        SELECT l.waiting
        FROM lanes l
        WHERE l.tenant_id = asked.tenant_id AND l.queue_id = q.id
        ORDER BY l.version DESC
        LIMIT 1
    ) lane
    UNION ALL
    SELECT newest.jobs
    FROM (
        SELECT a.tenant_id, a.jobs
        FROM arrivals a
        WHERE a.xid >= coalesce((SELECT since FROM door ORDER BY version DESC LIMIT 1), 0)
        ORDER BY a.xid DESC
        LIMIT 1000
    ) newest
    WHERE newest.tenant_id = asked.tenant_id
) told
