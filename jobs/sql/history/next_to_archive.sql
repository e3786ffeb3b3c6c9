-- Reads:  the end of the first job of a status that is old enough for the history, from a moment on; no row if none is.
-- Who:    the clock's upkeep, before each batch. Locks: none. Index: jobs_ended, from that moment.
SELECT end_time FROM jobs
WHERE end_time >= %(since)s::timestamptz
  AND end_time < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(after)s * interval '1 second'
  AND died_at IS NULL
  AND status = %(status)s
ORDER BY end_time
LIMIT 1
