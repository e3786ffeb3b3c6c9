-- Reads:  whether many of the queues that are awake are so for nothing, or many versions of turns lie where a pass reads them, or the
--         rate of one has changed while it lacks tokens. Who: the clock. Locks: none. Index: queue_turns_awake.
WITH
-- include shared/clock
awake AS (
    SELECT t.*, d.floor
    FROM (SELECT floor FROM door ORDER BY version DESC LIMIT 1) d
    JOIN queue_turns t ON t.state <> 'asleep' AND t.version >= d.floor
)
SELECT
    count(*) FILTER (WHERE state = 'empty' AND in_use = 0) > %(idle)s
    OR max(version) - max(floor) > %(span)s + 4 * count(*)
    OR bool_or(full_at > clock.now AND (full_limit, full_window) IS DISTINCT FROM (q.rate_limit, q.rate_window)) AS untidy
FROM awake t JOIN queues q ON q.id = t.queue_id CROSS JOIN clock
