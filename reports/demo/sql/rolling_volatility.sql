WITH step AS (
    SELECT symbol, month, ln(price / lag(price) OVER (PARTITION BY symbol ORDER BY month)) AS log_return
    FROM stocks
    WHERE symbol = %(symbol)s
)
SELECT month, round(100 * log_return, 2) AS return_percent,
       round((100 * sqrt(12) * stddev_samp(log_return) OVER (ORDER BY month ROWS 11 PRECEDING))::numeric, 1)
           AS yearly_volatility_percent
FROM step
WHERE log_return IS NOT NULL
ORDER BY month DESC
