-- name: look_briefly
-- Change: let each further statement of this transaction give up after so many milliseconds, and take a plan that does not
--         depend on how old the statistics of a table are. Who: the looks of health, of metrics and of the operators' pages:
--         a slow look must not hold up what it looks at. Locks: none.
SELECT
    set_config('statement_timeout', %(milliseconds)s::text, true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true),
    set_config('jit', 'off', true)

-- name: look_queues
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

-- name: look_slots
-- Reads:  the jobs that hold a slot, counted by tenant, queue and worker (null: handed over, not started yet).
-- Who:    health, metrics and the operators' pages. Locks: none. Index: jobs_one_job_per_slot: the books know no workers.
SELECT tenant_id, queue_id, worker, count(*)::int AS slots
FROM (SELECT tenant_id, queue_id, worker FROM jobs WHERE slot IS NOT NULL ORDER BY tenant_id, slot) used
GROUP BY tenant_id, queue_id, worker
