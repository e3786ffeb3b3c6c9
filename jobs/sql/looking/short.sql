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
-- Reads:  every queue with its limits, and what is in use and free of it and of its pool, as the claim counts them; and what the
--         recorder found late in its pool.
-- Who:    health, metrics and the operators' pages. Locks: none. Index: the newest turn of each queue.
WITH
-- include shared/present
listed AS (
    SELECT
        id, name, pool, weight, concurrency, paused, coalesce(opened_at > (SELECT now FROM clock), false) AS held, rate_limit, rate_window,
        in_use, pool_in_use, pool_capacity AS pool_processes,
        tokens, rate_next_at(rate_limit, rate_window, full_at) AS next_at,
        coalesce((late ->> 'jobs')::int, 0) AS late, coalesce((late ->> 'seconds')::float8, 0) AS late_seconds,
        coalesce((late ->> 'idle_looks')::int, 0) AS idle_looks,
        (SELECT wait_target FROM queues one WHERE one.id = queue_state.id) AS wait_target
    FROM queue_state
    LEFT JOIN LATERAL (SELECT recorded.late -> pool AS late FROM recorded WHERE task = 'may run') r ON true
)
SELECT * FROM listed ORDER BY name

-- name: look_slots
-- Reads:  the jobs that hold a slot, counted by tenant, worker (null: handed over, not started yet) and job type.
-- Who:    health, metrics and the operators' pages. Locks: none. Index: jobs_one_job_per_slot: the books know no workers.
SELECT tenant_id, worker, source_type || '.' || source_method AS job_type, count(*)::int AS slots
FROM (SELECT tenant_id, worker, source_type, source_method FROM jobs WHERE slot IS NOT NULL ORDER BY tenant_id, slot) used
GROUP BY tenant_id, worker, source_type, source_method

-- name: look_tenants
-- Reads:  the names, limits and shares of these tenants, the slots that they hold, and the tokens left of their rate limits. A
--         tenant without a row in tenant_queues has null slots. Who: the operators' pages and commands, the metrics of tenants.
-- Locks:  none. Index: primary keys, the newest version of each book.
WITH
-- include shared/clock
-- include shared/books
asked AS (SELECT unnest(%(ids)s::bigint[]) AS id)
SELECT
    t.id, t.name, t.slug, coalesce(book.in_use, 0) - coalesce(g.n, 0) AS in_use,
    tq.num_slots, tq.burst_slots, coalesce(tq.paused, false) AS paused, tq.rate_limit,
    rate_tokens(tq.rate_limit, tq.rate_window, book.full_at, clock.now) AS tokens,
    rate_next_at(tq.rate_limit, tq.rate_window, book.full_at) AS next_at,
    coalesce(share.got, 0) AS got, coalesce(share.entitled, 0) AS entitled,
    coalesce(share.got_hour, 0) AS got_hour, coalesce(share.entitled_hour, 0) AS entitled_hour
FROM asked
CROSS JOIN clock
JOIN tenants_tenant t ON t.id = asked.id
LEFT JOIN tenant_queues tq ON tq.tenant_id = t.id
LEFT JOIN tenant_shares share ON share.tenant_id = t.id
LEFT JOIN (SELECT tenant_id, count(*)::int AS n FROM given_back GROUP BY tenant_id) g ON g.tenant_id = t.id
LEFT JOIN LATERAL (
    SELECT in_use, rate_full_at(tq.rate_limit, tq.rate_window, b.full_at, b.full_limit, b.full_window, clock.now) AS full_at
    FROM tenant_books b WHERE b.tenant_id = t.id ORDER BY version DESC LIMIT 1
) book ON true

-- name: look_workers
-- Reads:  the workers that are there, and the last `most` that went in the last day; whether a worker carries the leading clock.
-- Who:    health, metrics, the operators' pages and commands. Locks: none. Index: none, the table has few rows.
WITH
-- include shared/clock
gone AS (
    SELECT id FROM workers CROSS JOIN clock
    WHERE gone_at > clock.now - interval '1 day'  -- guard
    ORDER BY gone_at DESC
    LIMIT %(most)s
)
SELECT
    w.id, w.name, w.pid, w.pool, w.kind, w.concurrency, w.seats, w.beat_interval, w.started_at, w.beat_at, w.cut_off_at, w.gone_at,
    w.lost,
    EXISTS (
        SELECT
        -- include shared/clock_lock
          AND a.application_name LIKE 'jobs:' || replace(w.id::text, '-', '') || ':%%'
    ) AS leads,
    w.database_wait, w.threads
FROM workers w
WHERE w.gone_at IS NULL OR w.id IN (SELECT id FROM gone)
ORDER BY w.gone_at DESC NULLS FIRST, w.pool, w.started_at DESC
