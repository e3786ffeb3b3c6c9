SELECT to_char(day, 'MM Mon') AS month,
       round(sum(rain) FILTER (WHERE extract(year FROM day) = 2012)::numeric, 1) AS "2012",
       round(sum(rain) FILTER (WHERE extract(year FROM day) = 2013)::numeric, 1) AS "2013",
       round(sum(rain) FILTER (WHERE extract(year FROM day) = 2014)::numeric, 1) AS "2014",
       round(sum(rain) FILTER (WHERE extract(year FROM day) = 2015)::numeric, 1) AS "2015"
FROM weather
GROUP BY 1
ORDER BY 1
