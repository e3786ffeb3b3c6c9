-- Gaps and islands: within a run of dry days, the day minus its row number is constant.
WITH dry AS (
    SELECT day, temp_max, day - row_number() OVER (ORDER BY day)::int AS island
    FROM weather
    WHERE rain <= %(drizzle_mm)s AND day >= %(since)s::date
)
SELECT min(day) AS first_day, max(day) AS last_day, count(*) AS days, max(temp_max) AS hottest
FROM dry
GROUP BY island
ORDER BY days DESC, first_day
LIMIT 15
