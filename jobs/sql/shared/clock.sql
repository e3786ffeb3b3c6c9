-- The time of the database's clock, read once; or of a test's clock.
clock AS MATERIALIZED (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now),
