-- Reads:  what was under way, once in `step` minutes: of all queues and pools, and of these tenants.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of samples.
SELECT s.at, mine.tenants, s.queues, s.pools
FROM samples s
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(id, s.tenants -> id), '{}') AS tenants
    FROM unnest(%(ids)s::text[]) id
    WHERE s.tenants ? id
) mine
WHERE s.at >= %(since)s::timestamptz AND extract(minute FROM s.at)::int %% %(step)s = 0
ORDER BY s.at
