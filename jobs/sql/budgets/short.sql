-- name: budgets
-- Reads:  the budgets of these tenants, or of all (null), and what was used of each in the present month. Who: operators, and a tenant.
-- Locks:  none. Index: the newest version of each book; all of tenant_queues.
WITH
-- include shared/clock
asked AS (SELECT %(tenants)s::bigint[] AS tenants)
SELECT t.slug AS tenant, b.unit, b.used, b.amount
FROM asked CROSS JOIN clock
CROSS JOIN budgets_at(clock.now) b
JOIN tenants_tenant t ON t.id = b.tenant_id
WHERE asked.tenants IS NULL OR b.tenant_id = ANY(asked.tenants)  -- guard I8
ORDER BY t.slug, b.unit

-- name: settle_budgets
-- Change: note which budgets are used up now, of all tenants that have some. Who: the clock, inside the door; elsewhere it does nothing.
-- Locks:  rows that only dispatches write. Index: the newest version of each book; all of tenant_queues.
WITH
-- include shared/clock
concerned AS (SELECT tenant_id FROM tenant_queues WHERE budgets <> '{}' UNION SELECT tenant_id FROM spent_budgets)
SELECT count(spend(t.tenant_id, book.used, NULL, clock.now))
FROM concerned t
CROSS JOIN clock
LEFT JOIN LATERAL (
    SELECT used FROM tenant_books b WHERE b.tenant_id = t.tenant_id ORDER BY version DESC LIMIT 1
) book ON true
WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1

-- name: unsettled_budgets
-- Reads:  whether the budgets that are used up are others than was noted: a month has begun, or a tenant was deleted. Who: the clock.
-- Locks:  none. Index: the newest version of each book; all of tenant_queues and of spent_budgets.
WITH
-- include shared/clock
due AS (SELECT b.tenant_id, b.unit FROM clock CROSS JOIN budgets_at(clock.now) b WHERE b.used >= b.amount)
SELECT EXISTS (SELECT FROM due FULL JOIN spent_budgets s USING (tenant_id, unit) WHERE due.unit IS NULL OR s.unit IS NULL)
