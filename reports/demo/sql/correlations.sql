WITH step AS (
    SELECT symbol, month, (ln(price / lag(price) OVER (PARTITION BY symbol ORDER BY month)))::float8 AS r FROM stocks
)
SELECT a.symbol AS one, b.symbol AS other, count(*) AS months, round(corr(a.r, b.r)::numeric, 3) AS correlation
FROM step a JOIN step b ON a.month = b.month AND a.symbol < b.symbol
WHERE a.r IS NOT NULL AND b.r IS NOT NULL
GROUP BY 1, 2
ORDER BY correlation DESC
