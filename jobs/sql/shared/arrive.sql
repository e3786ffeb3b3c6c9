-- Tell the next dispatch about the waiting jobs in `arriving`: queue_id, tenant_id, place (null if the job is not ready) and
-- jobs (the change of their number). It can only conflict with the transaction's own row, so it never waits.
, arrive AS (
    INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
    SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), sum(jobs)
    FROM arriving
    GROUP BY queue_id, tenant_id
    ON CONFLICT (xid, queue_id, tenant_id) DO UPDATE
    SET head = least(arrivals.head, excluded.head), jobs = arrivals.jobs + excluded.jobs
)
