-- Reads:  the status of one job of a tenant. Who: a long poll, repeatedly. Locks: none. Index: primary key.
SELECT j.status
FROM jobs j
WHERE j.id = %(id)s
  AND j.tenant_id = %(tenant_id)s  -- guard I8
