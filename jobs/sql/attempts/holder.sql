-- Reads:  what the holder of a running attempt was given. Who: a parent process that ends it in its child's place; the
--         child's pid is part of the fence, since a doubled message may have another child die of the same attempt.
SELECT
-- include shared/started
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
  AND j.status = 'running'
  AND (%(pid)s::int IS NULL OR (j.worker = %(worker)s AND j.worker_pid = %(pid)s))  -- guard I3
