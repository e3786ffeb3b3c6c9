-- The number of waiting jobs of the tenant `asked`: the counts of its lanes, and the arrivals since.
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
    (
        SELECT a.jobs
        FROM arrivals a
        WHERE a.xid >= coalesce((SELECT since FROM door ORDER BY version DESC LIMIT 1), 0)
          AND a.tenant_id = asked.tenant_id
        ORDER BY a.xid
        LIMIT 1000
    )
) told
