WITH ends AS (
    SELECT DISTINCT symbol,
           first_value(price) OVER w AS bought_at, last_value(price) OVER w AS worth_now,
           first_value(month) OVER w AS bought_in
    FROM stocks
    WHERE month >= make_date(%(year)s, 1, 1)
    WINDOW w AS (PARTITION BY symbol ORDER BY month ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT symbol, bought_in, bought_at, worth_now, round(1000 * worth_now / bought_at, 2) AS worth
FROM ends
ORDER BY worth DESC
