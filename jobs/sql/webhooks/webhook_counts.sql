-- Reads:  of these endpoints: the messages that wait, counted to `most`, and when the job of the first one ended; what was delivered,
--         failed and was dropped in the last 24 hours, to the hour. Who: pages, API, commands. Locks: none.
-- Index:  primary keys.
WITH
-- include shared/clock
asked AS (SELECT unnest(%(endpoints)s::bigint[]) AS endpoint)
SELECT asked.endpoint, waiting.messages AS waiting, oldest.ended_at AS oldest, day.*
FROM asked
CROSS JOIN clock
CROSS JOIN LATERAL (
    SELECT count(*)::int AS messages
    FROM (SELECT FROM webhook_messages m WHERE m.endpoint_id = asked.endpoint LIMIT %(most)s) seen
) waiting
LEFT JOIN LATERAL (
    SELECT m.ended_at FROM webhook_messages m WHERE m.endpoint_id = asked.endpoint ORDER BY m.event LIMIT 1
) oldest ON true
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(h.delivered), 0)::int AS delivered,
        coalesce(sum(h.failed), 0)::int AS failed,
        coalesce(sum(h.dropped), 0)::int AS dropped
    FROM webhook_hours h
    WHERE h.endpoint_id = asked.endpoint AND h.hour > clock.now - interval '24 hours'
) day
