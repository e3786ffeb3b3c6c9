-- Change: record a worker's heartbeat; the first one registers it. Who: the worker's parent process.
-- Locks:  its row. Returns no row if the worker was declared gone: then it must stop its jobs.
INSERT INTO workers (id, name, pid, pool, concurrency, beat_interval, started_at, beat_at)
VALUES (%(id)s, %(name)s, %(pid)s, %(pool)s, %(concurrency)s, %(interval)s, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO UPDATE
SET beat_at = clock_timestamp(), concurrency = excluded.concurrency
WHERE workers.gone_at IS NULL  -- guard
RETURNING (xmax = 0) AS registered
