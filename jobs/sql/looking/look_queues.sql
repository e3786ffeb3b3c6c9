-- Reads:  every queue with its limits, and what is in use and free of it and of its pool, as the claim counts them.
-- Who:    health, metrics and the operators' pages. Locks: none. Index: the newest turn of each queue.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/books
-- include shared/queue_states
listed AS (
    SELECT
        id, name, pool, weight, concurrency, paused, rate_limit, rate_window,
        in_use, pool_in_use, pool_capacity AS pool_processes,
        tokens, rate_next_at(rate_limit, rate_window, full_at) AS next_at
    FROM queue_state
)
SELECT * FROM listed ORDER BY name
