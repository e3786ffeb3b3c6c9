-- Where the limits of its tenant hold the jobs of each lane of `line`: `beyond_slots` jobs wait at the `gate` of its slots,
-- `beyond_rate` for its tokens, and `passing` go on to their queue. A tenant's free slots and tokens serve its queues in
-- their order; a job for which its queue has no room takes none. Limits per user are not counted.
queue_room AS MATERIALIZED (  -- null: no limit
    SELECT id AS queue_id,
        CASE
            WHEN paused THEN 0
            WHEN concurrency IS NOT NULL OR rate_limit IS NOT NULL
            THEN greatest(least(concurrency - in_use, floor(tokens)), 0)::int
        END AS room
    FROM queue_state
),
tenant_use AS MATERIALIZED (SELECT tenant_id, count(*)::int AS n FROM in_use GROUP BY tenant_id),
tenant_room AS MATERIALIZED (
    SELECT
        w.tenant_id, coalesce(t.paused, false) AS paused, coalesce(t.num_slots, 0) AS num_slots, t.user_slots,
        CASE WHEN t.paused THEN 0 ELSE greatest(coalesce(t.num_slots, 0) - coalesce(u.n, 0), 0) END AS slots,
        rate_tokens(t.rate_limit, t.rate_window, b.full_at, clock.now) AS tokens
    FROM (SELECT DISTINCT tenant_id FROM line) w
    CROSS JOIN clock
    LEFT JOIN tenant_queues t ON t.tenant_id = w.tenant_id
    LEFT JOIN tenant_use u ON u.tenant_id = w.tenant_id
    LEFT JOIN LATERAL (
        SELECT full_at FROM tenant_buckets b
        WHERE b.tenant_id = w.tenant_id AND t.rate_limit IS NOT NULL
        ORDER BY version DESC LIMIT 1
    ) b ON true
),
wanting AS (
    SELECT
        line.*, r.paused, r.num_slots, r.slots, r.tokens, q.room,
        least(line.waiting, r.slots, r.tokens) AS wants
    FROM line
    JOIN queue_room q ON q.queue_id = line.queue_id
    JOIN tenant_room r ON r.tenant_id = line.tenant_id
),
fitting AS (  -- the room of a queue goes to its lanes in the order of their turns
    SELECT *,
        CASE
            WHEN room IS NULL THEN wants
            ELSE least(wants, greatest(room - coalesce(sum(wants) OVER (
                PARTITION BY queue_id ORDER BY position NULLS FIRST, tenant_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0), 0))
        END AS uses
    FROM wanting
),
asking AS (
    SELECT *,
        coalesce(sum(uses) OVER (
            PARTITION BY tenant_id ORDER BY queue_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0) AS before
    FROM fitting
),
lane_cut AS MATERIALIZED (
    SELECT
        tenant_id, queue_id, waiting, position, num_slots, room,
        CASE WHEN paused THEN 'tenant_paused' WHEN num_slots = 0 THEN 'no_slots' ELSE 'slots_full' END AS gate,
        waiting - w.within AS beyond_slots, w.within - p.passing AS beyond_rate, p.passing
    FROM asking
    CROSS JOIN LATERAL (SELECT least(waiting, greatest(slots - before, 0))::int AS within) w
    CROSS JOIN LATERAL (SELECT least(w.within, greatest(coalesce(tokens - before, w.within), 0))::int AS passing) p
),
