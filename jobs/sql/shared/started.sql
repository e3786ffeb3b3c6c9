-- The columns that the holder of an attempt gets: of its job `j`, and of the queue `q`.
j.id, j.attempt, j.tenant_id, j.source_type, j.source_id, j.source_method, j.args::text AS args, j.cursor::text AS cursor, j.event::text AS event,
j.retries, j.max_retries, q.default_max_retries, q.default_backoff, q.backoff_grows,
coalesce(j.timeout, q.default_timeout, %(default_timeout)s) AS timeout, j.memory, j.sequence_stops,
q.name AS queue, j.trace_parent, j.waited_since, j.start_time
