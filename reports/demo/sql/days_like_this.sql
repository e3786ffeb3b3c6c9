WITH wanted AS (SELECT * FROM weather WHERE day = %(day)s::date)
SELECT w.day, w.kind, w.temp_max, w.temp_min, w.rain, w.wind,
       round(sqrt(power(w.temp_max - d.temp_max, 2) + power(w.temp_min - d.temp_min, 2)
                  + power(w.rain - d.rain, 2) + power(w.wind - d.wind, 2))::numeric, 2) AS difference
FROM weather w, wanted d
WHERE w.day <> d.day
ORDER BY difference, w.day
LIMIT 12
