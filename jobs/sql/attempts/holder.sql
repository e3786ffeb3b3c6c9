-- Reads:  the data of a running attempt's holder. Who: a parent process that settles it in place of its child. The child's
--         pid is part of the fence, since a duplicate message may let another child die during the same attempt.
SELECT
-- include shared/started
FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
  AND j.status = 'running'
  AND (%(pid)s::int IS NULL OR (j.worker = %(worker)s AND j.worker_pid = %(pid)s))  -- guard I3
