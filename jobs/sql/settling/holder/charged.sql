-- The columns of the attempt that ended, with what it is charged for.
-- include shared/ended
, extract(epoch FROM clock.now - coalesce(%(since)s::timestamptz, start_time))::float8 AS seconds,
followed, %(lost)s::bool AS lost
