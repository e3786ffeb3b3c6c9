-- Reads:  PostgreSQL's clock, in seconds. Who: the clock, to see whether one of the two was set.
SELECT extract(epoch FROM clock_timestamp())::float8
