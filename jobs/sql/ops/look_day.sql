-- Reads:  the attempts of these tenants that ended, by outcome, and the histogram of how long they had waited.
-- Who:    the operators' page of tenants, kept for half a minute. Locks: none. Index: the primary key of tenant_hours.
SELECT tenant_id, outcome, sum(attempts)::bigint, sum_buckets(wait_buckets, 1)
FROM tenant_hours
WHERE tenant_id = ANY(%(ids)s::bigint[]) AND hour >= %(since)s::timestamptz
GROUP BY tenant_id, outcome
