-- Change: record a worker as gone that holds a job but never registered, so that its first beat makes it stop.
-- Who:    recover, before it takes the job back. Not if the worker has registered meanwhile. Index: primary key.
INSERT INTO workers (id, name, pid, pool, concurrency, beat_interval, started_at, beat_at, gone_at)
VALUES (%(id)s, 'unknown', 0, '', 0, 1, clock_timestamp(), clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO NOTHING  -- guard
RETURNING id
