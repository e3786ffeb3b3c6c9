-- Reads:  seconds for which a job may run. Who: a parent process that has ended it, to say so. Index: primary key.
SELECT coalesce(j.timeout, q.default_timeout, %(default_timeout)s)::float8 FROM jobs j JOIN queues q ON q.id = j.queue_id
WHERE j.id = %(id)s
