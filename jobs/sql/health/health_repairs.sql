-- Reads:  the repairs by kind: their number, and the seconds since the last. Who: health and metrics. Locks: none.
-- Index: all of repairs.
WITH
-- include shared/clock
counted AS (SELECT kind, count, last_at FROM repairs)
SELECT kind, count, extract(epoch FROM clock.now - last_at)::float8 AS age FROM counted CROSS JOIN clock ORDER BY kind
