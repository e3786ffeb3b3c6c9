-- Reads:  the forecast of each lane of a tenant with jobs in line; if the tenant limits its users, that of its jobs without a user.
-- Who:    the pages of its members. Locks: none. Index: the primary keys.
SELECT q.name, statement_timestamp() AS now, f.made_at, f.reason, f.places::text
FROM forecasts f JOIN queues q ON q.id = f.queue_id
WHERE f.tenant_id = %(tenant_id)s  -- guard I8
  AND f.user_key IN ('', '@')
ORDER BY q.name
