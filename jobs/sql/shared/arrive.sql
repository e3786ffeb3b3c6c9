-- The next dispatch is told what waits: of `arriving` (queue_id, tenant_id, place, or null of a job that is not ready; jobs,
-- how many more wait). The transaction's own row at most is met, so nobody is waited for.
, arrive AS (
    INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
    SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), sum(jobs)
    FROM arriving
    GROUP BY queue_id, tenant_id
    ON CONFLICT (xid, queue_id, tenant_id) DO UPDATE
    SET head = least(arrivals.head, excluded.head), jobs = arrivals.jobs + excluded.jobs
)
