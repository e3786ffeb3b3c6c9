SELECT extract(year FROM year)::int AS year, origin, count(*) AS models,
       round(avg(miles_per_gallon)::numeric, 1) AS miles_per_gallon, round(avg(horsepower), 0) AS horsepower
FROM cars
WHERE miles_per_gallon IS NOT NULL AND (%(origin)s = 'all' OR origin = %(origin)s)
GROUP BY 1, 2
ORDER BY 1, 2
