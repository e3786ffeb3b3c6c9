-- Reads:  the jobs that hold a slot, counted by tenant, queue and worker (null: handed over, not started yet).
-- Who:    health, metrics and the operators' pages. Locks: none. Index: jobs_in_use, as the claim counts them.
WITH
-- include shared/clock
-- include shared/in_use
counted AS (
    SELECT tenant_id, queue_id, worker, count(*)::int AS held FROM in_use GROUP BY tenant_id, queue_id, worker
)
SELECT tenant_id, queue_id, worker, held FROM counted
