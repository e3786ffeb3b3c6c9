-- Airports of the chosen states against every other airport, as points on the unit sphere: the nearest one has
-- the greatest dot product, and only the winners need the arc cosine.
WITH point AS MATERIALIZED (
    SELECT iata, name, city, state,
           cosd(latitude) * cosd(longitude) AS x, cosd(latitude) * sind(longitude) AS y, sind(latitude) AS z
    FROM airports
    WHERE country = 'USA'
),
nearest AS (
    SELECT a.iata, max(a.x * b.x + a.y * b.y + a.z * b.z) AS cosine
    FROM point a JOIN point b ON b.iata <> a.iata
    WHERE %(state)s = 'all' OR a.state = %(state)s
    GROUP BY a.iata
)
SELECT iata, name, city, state, round((6371 * acos(least(cosine, 1)))::numeric, 1) AS km_to_the_next
FROM nearest JOIN point USING (iata)
ORDER BY km_to_the_next DESC
LIMIT 25
