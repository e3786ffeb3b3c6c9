-- A bootstrap: each path draws twelve months at random from the share's own history. The draw names `path` and
-- `step`, or PostgreSQL would draw once and use it for all.
WITH history AS (
    SELECT row_number() OVER (ORDER BY month) AS nr, (ln(price / lag(price) OVER (ORDER BY month)))::float8 AS r
    FROM stocks
    WHERE symbol = %(symbol)s
),
draw AS MATERIALIZED (
    SELECT path, 2 + floor(random() * (SELECT max(nr) - 1 FROM history))::bigint AS nr
    FROM generate_series(1, %(paths)s::int) AS path, generate_series(1, 12) AS step
),
outcome AS (
    SELECT path, 1000 * exp(sum(r)) AS worth FROM draw JOIN history USING (nr) GROUP BY path
)
SELECT percent AS percentile,
       round(percentile_cont(percent / 100.0) WITHIN GROUP (ORDER BY worth)::numeric, 2) AS worth_after_a_year
FROM outcome, unnest(ARRAY[5, 25, 50, 75, 95]) AS percent
GROUP BY percent
ORDER BY percent
