-- Change: a worker that never registered, but holds a job, is noted as gone, so that its first beat makes it stop.
-- Who:    recover, before it takes the job back; one that has registered meanwhile is left alone. Index: primary key.
INSERT INTO workers (id, name, pid, pool, concurrency, beat_interval, started_at, beat_at, gone_at)
VALUES (%(id)s, 'unknown', 0, '', 0, 1, clock_timestamp(), clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO NOTHING
RETURNING id
