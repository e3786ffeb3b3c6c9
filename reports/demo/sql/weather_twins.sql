-- Every pair of days at least a year apart: a million pairs.
SELECT a.day AS one_day, b.day AS another_day, a.kind, a.temp_max, b.temp_max AS temp_max_too,
       round(sqrt(power(a.temp_max - b.temp_max, 2) + power(a.temp_min - b.temp_min, 2)
                  + power(a.rain - b.rain, 2) + power(a.wind - b.wind, 2))::numeric, 3) AS difference
FROM weather a JOIN weather b ON b.day >= a.day + 365 AND b.kind = a.kind
WHERE a.kind = %(kind)s OR %(kind)s = 'any'
ORDER BY difference, one_day
LIMIT 20
