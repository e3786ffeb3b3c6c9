-- Change: a tenant pays for the slot that an attempt held: its virtual time moves on by the seconds, by its weight.
-- Who:    whoever ended the attempt, after that and before the dispatch that follows. A payment lost to a crash costs
--         nobody anything but a little fairness.
-- Locks:  the tenant's turn, shortly. Index: primary keys.
INSERT INTO tenant_turns AS t (tenant_id, virtual_time, seen_at)
SELECT j.tenant_id, greatest(extract(epoch FROM clock.now - j.queued_at), 0)::float8 / q.weight, clock.now
FROM jobs j
JOIN tenant_queues q ON q.tenant_id = j.tenant_id
CROSS JOIN (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
WHERE j.id = %(id)s AND j.attempt = %(attempt)s AND j.slot IS NULL
ON CONFLICT (tenant_id) DO UPDATE
SET virtual_time = t.virtual_time + excluded.virtual_time, seen_at = excluded.seen_at
