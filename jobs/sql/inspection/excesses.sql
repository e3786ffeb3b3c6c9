-- Reads:  every level that holds more slots than its limit, the limit, and the moment of its newest claim. Who: the inspection.
-- Locks:  none. Index: jobs_one_job_per_slot. After a limit was lowered its level drains, so the inspection looks twice.
WITH taken AS MATERIALIZED (
    SELECT j.tenant_id, j.user_key, j.queued_at, q.name AS queue, q.concurrency, q.tenant_slots
    FROM jobs j JOIN queues q ON q.id = j.queue_id
    WHERE j.slot IS NOT NULL
)
SELECT
    'tenant' AS level, t.slug AS name, count(*) AS in_use, max(greatest(tq.num_slots, tq.burst_slots)) AS "limit", max(h.queued_at) AS newest
FROM taken h JOIN tenants_tenant t ON t.id = h.tenant_id JOIN tenant_queues tq ON tq.tenant_id = t.id
GROUP BY t.slug HAVING count(*) > max(greatest(tq.num_slots, tq.burst_slots))
UNION ALL
SELECT 'user', t.slug || ' / ' || h.user_key, count(*), max(tq.user_slots), max(h.queued_at)
FROM taken h JOIN tenants_tenant t ON t.id = h.tenant_id JOIN tenant_queues tq ON tq.tenant_id = t.id
WHERE h.user_key <> ''
GROUP BY t.slug, h.user_key HAVING count(*) > max(tq.user_slots)
UNION ALL
SELECT 'lane', t.slug || ' / ' || h.queue, count(*), max(coalesce((tq.queue_slots -> h.queue)::int, h.tenant_slots)), max(h.queued_at)
FROM taken h JOIN tenants_tenant t ON t.id = h.tenant_id JOIN tenant_queues tq ON tq.tenant_id = t.id
GROUP BY t.slug, h.queue HAVING count(*) > max(coalesce((tq.queue_slots -> h.queue)::int, h.tenant_slots))
UNION ALL
SELECT 'queue', h.queue, count(*), max(h.concurrency), max(h.queued_at)
FROM taken h GROUP BY h.queue HAVING count(*) > max(h.concurrency)
