-- Change: delete old archived jobs of the tenants whose history is kept for fewer days than the default. Returns their number.
-- Who:    the clock's upkeep. Index: job_history_by_end, for each such tenant. It skips locked rows.
WITH
-- include shared/clock
old AS MATERIALIZED (
    SELECT h.id, h.end_time
    FROM tenant_queues t
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT id, end_time FROM job_history
        WHERE tenant_id = t.tenant_id
          AND end_time < clock.now - t.history_days * interval '1 day'  -- guard
        ORDER BY end_time
        LIMIT %(batch)s
        FOR UPDATE SKIP LOCKED
    ) h
    WHERE t.history_days IS NOT NULL
    LIMIT %(batch)s
),
gone AS (
    DELETE FROM job_history h USING old WHERE h.id = old.id AND h.end_time = old.end_time
    RETURNING h.id
)
SELECT count(*) FROM gone
