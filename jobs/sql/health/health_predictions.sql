-- Reads:  how often what was said of the starts of jobs held, and by how much it missed; of the last day, and of the last hour.
--         loss: the pinball loss, which is least on average for the true quantile. Who: health, metrics, the recorder. Locks: none.
-- Index:  predictions_by_time; some 17,000 rows, and the forecasts, one of each lane with jobs in line.
WITH
-- include shared/clock
said AS (
    SELECT p.*, p.made_at > clock.now - interval '1 hour' AS lately, coalesce(p.raw_90 < 'Infinity', false) AS finite
    FROM predictions p CROSS JOIN clock
    WHERE p.made_at > clock.now - interval '1 day'
)
SELECT
    count(*)::int AS predictions,
    count(*) FILTER (WHERE NOT finite)::int AS unsaid,
    count(held_50)::int AS known_50,
    count(*) FILTER (WHERE held_50)::int AS held_50,
    count(held_90)::int AS known_90,
    count(*) FILTER (WHERE held_90)::int AS held_90,
    count(held_90) FILTER (WHERE lately)::int AS known_lately,
    count(*) FILTER (WHERE held_90 AND lately)::int AS held_lately,
    avg(greatest(0.5 * (started - said_50), 0.5 * (said_50 - started)))::float8 AS loss_50,
    avg(greatest(0.9 * (started - said_90), 0.1 * (said_90 - started)))::float8 AS loss_90,
    avg(greatest(0.5 * (started - ahead_50), 0.5 * (ahead_50 - started)))::float8 AS ahead_50,
    avg(greatest(0.9 * (started - ahead_90), 0.1 * (ahead_90 - started)))::float8 AS ahead_90,
    avg(greatest(0.5 * (started - past_50), 0.5 * (past_50 - started)))::float8 AS past_50,
    avg(greatest(0.9 * (started - past_90), 0.1 * (past_90 - started)))::float8 AS past_90,
    (SELECT extract(epoch FROM clock.now - max(made_at))::float8 FROM forecasts CROSS JOIN clock GROUP BY clock.now) AS forecast_age
FROM said
