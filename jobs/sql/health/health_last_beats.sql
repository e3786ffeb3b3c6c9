-- Reads:  the last heartbeat in each of these pools, of whatever worker: it may have left since. Who: health and metrics, of
--         pools without a live worker. Locks: none. Index: none; workers are few, and such pools rare.
SELECT pool, max(beat_at) FROM workers
WHERE pool = ANY(%(pools)s::text[])  -- guard
GROUP BY pool
