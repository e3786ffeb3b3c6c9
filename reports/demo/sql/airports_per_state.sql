SELECT state, count(*) AS airports, round(avg(latitude)::numeric, 2) AS mean_latitude
FROM airports
WHERE country = 'USA' AND state <> 'NA'
GROUP BY state
HAVING count(*) >= %(at_least)s
ORDER BY airports DESC, state
