-- The haversine: stable also for airports a few hundred metres apart.
WITH home AS (SELECT * FROM airports WHERE iata = %(airport)s)
SELECT a.iata, a.name, a.city, a.state,
       round((2 * 6371 * asin(sqrt(
           power(sind((a.latitude - home.latitude) / 2), 2)
           + cosd(a.latitude) * cosd(home.latitude) * power(sind((a.longitude - home.longitude) / 2), 2)
       )))::numeric, 1) AS km
FROM airports a, home
WHERE a.iata <> home.iata
ORDER BY km
LIMIT %(rows)s
