-- Change: create the queue of this name, unless it exists. Who: every migration, to any schema; so this names only columns
--         that have always existed.
INSERT INTO queues (name, weight, pool, default_backoff, paused)
VALUES (%(name)s, 1, 'default', 10, false)
ON CONFLICT (name) DO NOTHING  -- guard
