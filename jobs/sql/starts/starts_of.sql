-- Reads:  the forecasts of lanes, or of a user's jobs in them; null if there is none. One row for each lane and user asked for.
-- Who:    pages, API and commands, for jobs that the caller has read, and so may see. Locks: none. Index: the primary key.
SELECT asked.tenant_id, asked.queue_id, asked.user_key, statement_timestamp() AS now, f.made_at, f.reason, f.places::text
FROM unnest(%(tenants)s::bigint[], %(queues)s::bigint[], %(users)s::text[]) AS asked (tenant_id, queue_id, user_key)
LEFT JOIN LATERAL (
    SELECT made_at, reason, places FROM forecasts
    WHERE tenant_id = asked.tenant_id  -- guard I8
      AND queue_id = asked.queue_id
      AND user_key IN ('', '@' || asked.user_key)  -- one of both exists
    LIMIT 1
) f ON true
