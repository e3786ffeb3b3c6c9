-- What the limits of its tenant do to each lane of `line`: `gate`, if its slots, those in this queue, or a job that holds the lane, let none of its jobs go now; `no_tokens`, if
-- its rate does not; and how many are `passing`, which could go on to their queue at once. A tenant's free slots and tokens
-- serve its queues in their order; a job for which its queue has no room takes none. Limits per user are not counted.
-- All lanes of all tenants pass here, so each step reads them once, as a set.
queue_room AS MATERIALIZED (  -- null: no limit
    SELECT id AS queue_id, name, tenant_slots,
        CASE
            WHEN paused OR opened_at > clock.now THEN 0
            WHEN concurrency IS NOT NULL OR rate_limit IS NOT NULL
            THEN greatest(least(concurrency - in_use, floor(tokens)), 0)::int
        END AS room
    FROM queue_state CROSS JOIN clock
),
wanting AS MATERIALIZED (
    SELECT w.*, least(w.waiting, w.slots, w.lane_left, w.tokens) AS wants
    FROM (
        SELECT
            line.tenant_id, line.queue_id, line.waiting, line.position, line.since, q.room, t.user_slots, u.users,
            CASE
                WHEN t.paused THEN 'tenant_paused'
                WHEN coalesce(t.num_slots, 0) = 0 THEN 'no_slots'
                WHEN held.queue_id IS NOT NULL THEN 'lane_held'
                WHEN t.num_slots <= coalesce(u.n, 0) THEN 'slots_full'
                WHEN lane_left = 0 THEN 'lane_full'
            END AS gate,
            CASE WHEN t.paused THEN 0 ELSE greatest(coalesce(t.num_slots, 0) - coalesce(u.n, 0), 0) END AS slots,
            lane_left,
            CASE WHEN t.rate_limit IS NOT NULL THEN rate_tokens(t.rate_limit, t.rate_window, (
                SELECT rate_full_at(t.rate_limit, t.rate_window, b.full_at, b.full_limit, b.full_window, clock.now)
                FROM tenant_books b WHERE b.tenant_id = t.tenant_id ORDER BY version DESC LIMIT 1
            ), clock.now) END AS tokens
        FROM line
        JOIN queue_room q ON q.queue_id = line.queue_id
        CROSS JOIN clock
        LEFT JOIN tenant_queues t ON t.tenant_id = line.tenant_id
        LEFT JOIN tenant_use u ON u.tenant_id = line.tenant_id
        LEFT JOIN lane_use l ON l.tenant_id = line.tenant_id AND l.queue_id = line.queue_id
        LEFT JOIN (SELECT DISTINCT queue_id, tenant_id FROM holds) held ON held.tenant_id = line.tenant_id AND held.queue_id = line.queue_id
        CROSS JOIN LATERAL (
            SELECT CASE WHEN held.queue_id IS NULL THEN greatest(
                coalesce((t.queue_slots -> q.name)::int, q.tenant_slots, 2147483647) - coalesce(l.n, 0), 0
            ) ELSE 0 END AS lane_left
        ) own
    OFFSET 0) w  -- compute each column once
),
fitting AS (  -- the room of a queue goes to its lanes in the order of their turns
    SELECT *, wants AS uses FROM wanting WHERE room IS NULL
    UNION ALL
    SELECT *, least(wants, greatest(room - coalesce(sum(wants) OVER (
        PARTITION BY queue_id ORDER BY position NULLS FIRST, tenant_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0), 0)) AS uses
    FROM wanting WHERE room IS NOT NULL
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
        tenant_id, queue_id, waiting, position, since, room, user_slots, users, gate, coalesce(tokens < 1, false) AS no_tokens,
        least(
            waiting, greatest(slots - before, 0), lane_left, CASE WHEN tokens IS NOT NULL THEN greatest(tokens - before, 0) END
        )::int AS passing
    FROM asking
),
