-- Reads:  seconds until the next schedule is due (negative: late); null if none is. Who: the leading clock.
-- Index:  schedules_next, its first entry.
SELECT extract(epoch FROM next_at - clock_timestamp())::float8
FROM schedules
WHERE next_at IS NOT NULL
ORDER BY next_at
LIMIT 1
