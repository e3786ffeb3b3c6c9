-- Reads:  a tenant's API key that is good now, with its tenant. Who: every request that brings a key.
-- Locks:  none. Index: the unique one of the prefix.
SELECT k.id, k.digest, k.last_used_at IS NULL OR k.last_used_at < now() - %(resolution)s::interval,
       coalesce(q.moving, ''), t.id, t.name, t.slug
FROM tenants_apikey k
JOIN tenants_tenant t ON t.id = k.tenant_id
LEFT JOIN tenant_queues q ON q.tenant_id = k.tenant_id
WHERE k.prefix = %(prefix)s
  AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > now())
