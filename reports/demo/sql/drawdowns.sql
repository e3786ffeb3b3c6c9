WITH peak AS (
    SELECT symbol, month, price, max(price) OVER (PARTITION BY symbol ORDER BY month) AS high FROM stocks
),
worst AS (
    SELECT DISTINCT ON (symbol) symbol, month, price, high, round(100 * (1 - price / high), 1) AS lost_percent
    FROM peak
    ORDER BY symbol, lost_percent DESC
)
SELECT symbol, lost_percent, high AS from_price, price AS down_to, month AS lowest_in
FROM worst
ORDER BY lost_percent DESC
