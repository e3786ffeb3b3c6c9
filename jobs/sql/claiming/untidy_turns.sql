-- Reads:  whether many of the queues that are awake are so for nothing, or many versions of turns lie where a pass reads them.
-- Who:    the clock. Locks: none. Index: queue_turns_awake.
SELECT
    count(*) FILTER (WHERE t.state = 'empty' AND t.in_use = 0) > %(idle)s
    OR max(t.version) - max(d.floor) > %(span)s + 4 * count(*) AS untidy
FROM (SELECT floor FROM door ORDER BY version DESC LIMIT 1) d
JOIN queue_turns t ON t.state <> 'asleep' AND t.version >= d.floor
