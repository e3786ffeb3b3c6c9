-- Reads:  PostgreSQL's clock, in seconds. Who: the clock, to notice that one of the two clocks was set.
SELECT extract(epoch FROM clock_timestamp())::float8
