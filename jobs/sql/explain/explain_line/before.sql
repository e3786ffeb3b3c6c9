-- The place of each of these jobs in its lane, from 1: at most `most` jobs before it are counted, and those of users at
-- their limit are passed over.
before AS (
    SELECT job.id, CASE WHEN counted.all >= %(most)s THEN %(most)s ELSE counted.n END + 1 AS place
    FROM job JOIN own_use USING (tenant_id) LEFT JOIN tenant_queues limits USING (tenant_id) CROSS JOIN LATERAL (
        SELECT
            count(*) AS all,
            count(*) FILTER (
                WHERE limits.user_slots IS NULL OR j.user_key IN ('', job.user_key)
                    OR limits.user_slots > coalesce((own_use.users ->> j.user_key)::int, 0)
            ) AS n
        FROM (
            SELECT j.user_key FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = job.queue_id AND j.tenant_id = job.tenant_id
              AND (j.priority, j.id) < (job.priority, job.id)
            ORDER BY j.priority, j.id
            LIMIT %(most)s
        ) j
    ) counted
)
