-- The time of the database's clock, at the beginning of the statement; or of a test's clock.
clock AS NOT MATERIALIZED (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now),
