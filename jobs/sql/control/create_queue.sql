-- Change: there is a queue of this name. Who: every migration, to whatever schema it leads; so this names only the columns
--         that there have always been.
INSERT INTO queues (name, weight, pool, default_backoff, paused)
VALUES (%(name)s, 1, 'default', 10, false)
ON CONFLICT (name) DO NOTHING
