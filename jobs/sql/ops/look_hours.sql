-- Reads:  the attempts of a tenant that ended, by hour and outcome, and the histogram of how long they had waited.
-- Who:    the operators' page of that tenant. Locks: none. Index: the primary key of tenant_hours.
SELECT hour, outcome, sum(attempts)::bigint, sum_buckets(wait_buckets, 1)
FROM tenant_hours
WHERE tenant_id = %(tenant_id)s AND hour >= %(since)s::timestamptz
GROUP BY hour, outcome
ORDER BY hour
