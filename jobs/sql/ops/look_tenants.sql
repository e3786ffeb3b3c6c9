-- Reads:  the names, limits and shares of these tenants, and the tokens left of their rate limits. A tenant without a row in
--         tenant_queues has null slots. Who: the operators' pages. Locks: none. Index: primary keys, tenant_books.
WITH
-- include shared/clock
asked AS (SELECT unnest(%(ids)s::bigint[]) AS id)
SELECT
    t.id, t.name, t.slug, tq.num_slots, tq.user_slots, coalesce(tq.weight, 1) AS weight, coalesce(tq.paused, false) AS paused,
    tq.rate_limit, tq.rate_window,
    rate_tokens(tq.rate_limit, tq.rate_window, bucket.full_at, clock.now) AS tokens,
    rate_next_at(tq.rate_limit, tq.rate_window, rate_full_at(tq.rate_window, bucket.full_at, clock.now)) AS next_at,
    coalesce(share.got, 0), coalesce(share.entitled, 0), coalesce(share.got_hour, 0), coalesce(share.entitled_hour, 0)
FROM asked
CROSS JOIN clock
JOIN tenants_tenant t ON t.id = asked.id
LEFT JOIN tenant_queues tq ON tq.tenant_id = t.id
LEFT JOIN tenant_shares share ON share.tenant_id = t.id
LEFT JOIN LATERAL (
    SELECT full_at FROM tenant_books b WHERE b.tenant_id = t.id ORDER BY version DESC LIMIT 1
) bucket ON true
