-- Change: record a worker's heartbeat; the first one registers it. Who: the worker's parent process.
-- Locks:  its row. Returns no row if the worker was declared gone: then it must stop its jobs.
INSERT INTO workers (id, name, pid, pool, concurrency, beat_interval, started_at, beat_at)
SELECT %(id)s, %(name)s, %(pid)s, %(pool)s, %(concurrency)s, %(interval)s, clock.now, clock.now
FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
ON CONFLICT (id) DO UPDATE
SET beat_at = excluded.beat_at, concurrency = excluded.concurrency
WHERE workers.gone_at IS NULL  -- guard
RETURNING (xmax = 0) AS registered
