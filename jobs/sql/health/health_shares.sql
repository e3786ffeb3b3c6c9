-- Reads:  the tenants that got less than this part of what they were entitled to (more than `judged` seconds), both in about the last 5 minutes and in
--         about the last hour; those that lack most first, at most `most`. `is_short` in jobs/reading/shares.py decides.
-- Who:    health and metrics. Locks: none. Index: all of tenant_shares, which has tenants with work in the last hours.
SELECT t.id, t.name, t.slug, s.got, s.entitled, s.got_hour, s.entitled_hour
FROM tenant_shares s JOIN tenants_tenant t ON t.id = s.tenant_id
WHERE s.got < s.entitled * %(share)s::float8
  AND s.got_hour < s.entitled_hour * %(share)s::float8
  AND s.entitled > %(judged)s::float8
ORDER BY s.entitled_hour - s.got_hour DESC, t.id
LIMIT %(most)s
