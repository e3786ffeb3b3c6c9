-- 2. The walk: round the circle of each open queue, from the end of the last pass, until there are as many lanes to serve as
-- there is room for, or the circle ends. A visited lane goes to the end of the circle, so none is met twice, and those before
-- `head` are done. A pass ends after so many visits, or after so long, which counts as so many; the next one continues.
-- front: the places of the lane's first jobs, and some more to replace those that others have locked. If the tenant limits its
-- users, they take turns, from `last_user` on. in_time: whether the lane is at most a quantum ahead of the others.
-- left: the tenant's free slots, with what it may borrow in a pass that lends; own_slots: without. free: those that it has
-- tokens for.
visit AS (
    SELECT
        id AS queue_id, room, lane_time, quantum, rate_limit AS queue_rate, head AS position, 0 AS nth, 0 AS found,
        NULL::tid AS lane_row, NULL::bigint AS tenant_id, 0 AS lane_in_use, NULL::tenant_queues AS tenant,
        NULL::tid AS book_row, NULL::tenant_books AS book, 1 AS weight, false AS uncounted, false AS passed_over,
        0 AS left_slots, 0 AS own_slots, 0::float8 AS free, 0::float8 AS virtual_time, false AS in_time, NULL::lane_front AS front
    FROM open_queue
    UNION ALL
    SELECT
        v.queue_id, v.room, v.lane_time, v.quantum, v.queue_rate, lane.position,
        CASE WHEN clock_timestamp() > latest.moment THEN %(visits)s::int ELSE v.nth + 1 END,
        v.found + (cardinality((own.front).places) > 0 AND own.in_time AND own.own_slots > 0)::int,
        lane.row, lane.tenant_id, lane.in_use, t.tenant, b.row, b.book, own.*
    FROM visit v
    CROSS JOIN clock
    CROSS JOIN (SELECT statement_timestamp() + %(seconds)s::float8 * interval '1 s' AS moment) latest
    CROSS JOIN LATERAL (
        SELECT ctid AS row, tenant_id, position, in_use, tickets, virtual_time, head, last_user FROM lanes
        WHERE state = 'ready' AND queue_id = v.queue_id AND position > v.position
        ORDER BY position LIMIT 1
    ) lane
    LEFT JOIN LATERAL (  -- a tenant without a row, or a paused one, has no slots
        SELECT t AS tenant FROM tenant_queues t
        WHERE tenant_id BETWEEN lane.tenant_id AND lane.tenant_id
          AND NOT paused  -- guard
        ORDER BY tenant_id LIMIT 1
    ) t ON true
    LEFT JOIN LATERAL (
        SELECT ctid AS row, b AS book FROM tenant_books b WHERE tenant_id = lane.tenant_id ORDER BY version DESC LIMIT 1
    ) b ON true
    CROSS JOIN LATERAL (
        SELECT
            o.*, o.virtual_time <= v.lane_time + v.quantum / o.weight AS in_time,
            CASE
                WHEN (t.tenant).user_slots IS NOT NULL THEN front_by_user(
                    v.queue_id, lane.tenant_id, lane.last_user, (b.book).users, (t.tenant).user_slots, least(o.free, v.room)::int
                )
                ELSE ROW(ARRAY(
                    SELECT job_place(j.priority, j.id) FROM jobs j
                    WHERE j.ready_at IS NOT NULL AND j.queue_id = v.queue_id AND j.tenant_id = lane.tenant_id
                      AND (j.priority, j.id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
                    ORDER BY j.priority, j.id
                    LIMIT CASE WHEN o.free > 0 THEN least(o.free, v.room) + 8 ELSE 0 END
                ), least(o.free, v.room), '', true)::lane_front
            END AS front
        FROM (
            SELECT
                o.*,
                CASE WHEN o.passed_over THEN 0 ELSE greatest(least(
                    o.left_slots, rate_tokens((t.tenant).rate_limit, (t.tenant).rate_window, (b.book).full_at, clock.now)
                ), 0) END::float8 AS free,
                greatest(
                    lane.virtual_time + worked_since(lane.in_use, lane.tickets, clock.now) / o.weight,
                    v.lane_time - %(credit)s::float8 / o.weight
                ) AS virtual_time
            FROM (
                SELECT
                    coalesce((t.tenant).weight, 1) AS weight, u.uncounted,
                    u.uncounted
                    OR v.queue_id || ':' || lane.tenant_id = ANY(%(locked)s::text[])  -- guard I2
                    AS passed_over,
                    greatest(
                        (t.tenant).num_slots, CASE WHEN %(borrow)s AND (t.tenant).num_slots > 0 THEN (t.tenant).burst_slots END, 0
                    ) - coalesce((b.book).in_use, 0) AS left_slots,
                    greatest((t.tenant).num_slots - coalesce((b.book).in_use, 0), 0) AS own_slots
                FROM (SELECT (t.tenant).user_slots IS NOT NULL AND (b.book).users IS NULL AND (b.book).in_use > 0 AS uncounted) u
                OFFSET 0  -- here and below: compute each column once, otherwise each use would repeat its formula
            ) o
            OFFSET 0
        ) o
        OFFSET 0
    ) own
    WHERE v.found < v.room AND v.nth < %(visits)s::int
),
