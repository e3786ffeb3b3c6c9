-- Every pair of airports of the mainland; a pair is near when its dot product exceeds the cosine of the angle.
WITH point AS MATERIALIZED (
    SELECT iata, name, city, state,
           cosd(latitude) * cosd(longitude) AS x, cosd(latitude) * sind(longitude) AS y, sind(latitude) AS z
    FROM airports
    WHERE state NOT IN ('AK', 'HI') AND latitude BETWEEN 24 AND 50
)
SELECT a.iata, a.name, a.city, a.state, count(*) AS airports_in_reach
FROM point a JOIN point b ON a.x * b.x + a.y * b.y + a.z * b.z > cos(%(radius_km)s / 6371.0)
WHERE a.iata <> b.iata
GROUP BY a.iata, a.name, a.city, a.state
ORDER BY airports_in_reach DESC
LIMIT 20
