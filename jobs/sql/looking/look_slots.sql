-- Reads:  the jobs that hold a slot, counted by tenant, queue and worker (null: handed over, not started yet).
-- Who:    health, metrics and the operators' pages. Locks: none. Index: jobs_one_job_per_slot: the books know no workers.
SELECT tenant_id, queue_id, worker, count(*)::int AS slots
FROM (SELECT tenant_id, queue_id, worker FROM jobs WHERE slot IS NOT NULL ORDER BY tenant_id, slot) used
GROUP BY tenant_id, queue_id, worker
