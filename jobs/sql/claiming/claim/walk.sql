-- 2. The walk: round the circle of each open queue, from the end of the last pass, until there are as many lanes to serve as
-- there is room for, or the circle ends. A visited lane goes to the end of the circle, so none is met twice, and those before
-- `head` are done. A pass ends after so many visits, or after so long; the next one continues.
-- front: the places of the lane's first jobs, and some more to replace those that others have locked. If the tenant limits its
-- users, they take turns, from `last_user` on. free: with what it may borrow, in a pass that lends; own_slots: without.
-- in_time: whether the lane is at most a quantum ahead of the others.
visit AS MATERIALIZED (
    WITH RECURSIVE walk AS (
        SELECT
            q.id AS queue_id, q.room, q.lane_time, q.quantum, q.now, q.rate_limit AS queue_rate, q.head AS position,
            0 AS nth, 0 AS found, false AS late,
            NULL::tid AS lane_row, NULL::bigint AS tenant_id, 1 AS weight, 0 AS lane_in_use, 0 AS num_slots,
            0 AS burst, 0 AS own_slots,
            NULL::int AS user_slots, NULL::int AS rate_limit, NULL::float8 AS rate_window,
            NULL::tid AS book_row, 0::bigint AS book, 0 AS tenant_in_use, NULL::int4multirange AS slots, NULL::jsonb AS users,
            false AS passed_over, false AS uncounted, NULL::timestamptz AS full_at, 0::float8 AS free, 0::float8 AS seconds,
            0::float8 AS virtual_time, 0 AS wanted, false AS in_time, NULL::bigint[] AS front, ''::text AS last_user,
            true AS all_users
        FROM open_queue q
        UNION ALL
        SELECT
            walk.queue_id, walk.room, walk.lane_time, walk.quantum, walk.now, walk.queue_rate, lane.position,
            walk.nth + 1, walk.found + (cardinality(line.front) > 0 AND own.in_time AND own.own_slots > 0)::int,
            clock_timestamp() > statement_timestamp() + %(seconds)s::float8 * interval '1 s',
            lane.row, lane.tenant_id, own.weight, lane.in_use, coalesce(own.num_slots, 0),
            CASE WHEN tenant.num_slots > 0 THEN coalesce(tenant.burst_slots, 0) ELSE 0 END, own.own_slots,
            tenant.user_slots, tenant.rate_limit, tenant.rate_window,
            book.row, book.version, coalesce(book.in_use, 0), book.slots, book.users,
            own.passed_over, own.uncounted, own.full_at, own.free, own.seconds, own.virtual_time,
            coalesce((line.by_user).startable, own.wanted), own.in_time, line.front,
            coalesce((line.by_user).last_user, ''), coalesce((line.by_user).all_users, true)
        FROM walk
        CROSS JOIN LATERAL (
            SELECT ctid AS row, * FROM lanes
            WHERE state = 'ready' AND queue_id = walk.queue_id AND position > walk.position
            ORDER BY position
            LIMIT 1
        ) lane
        LEFT JOIN LATERAL (  -- a tenant without a row, or a paused one, has no slots
            SELECT * FROM tenant_queues
            WHERE tenant_id BETWEEN lane.tenant_id AND lane.tenant_id
              AND NOT paused  -- guard
            ORDER BY tenant_id
            LIMIT 1
        ) tenant ON true
        LEFT JOIN LATERAL (
            SELECT ctid AS row, * FROM tenant_books WHERE tenant_id = lane.tenant_id ORDER BY version DESC LIMIT 1
        ) book ON true
        CROSS JOIN LATERAL (
            SELECT
                o.*, CASE WHEN o.passed_over THEN 0 ELSE least(o.free, walk.room)::int END AS wanted,
                o.virtual_time <= walk.lane_time + walk.quantum / o.weight AS in_time
            FROM (
                SELECT
                    o.*,
                    greatest(least(
                        o.num_slots - coalesce(book.in_use, 0),
                        rate_tokens(tenant.rate_limit, tenant.rate_window, book.full_at, walk.now)
                    ), 0)::float8 AS free,
                    greatest(
                        lane.virtual_time + o.seconds / o.weight, walk.lane_time - %(credit)s::float8 / o.weight
                    ) AS virtual_time
                FROM (
                    SELECT
                        coalesce(tenant.weight, 1) AS weight,
                        tenant.user_slots IS NOT NULL AND book.users IS NULL AND book.in_use > 0 AS uncounted,
                        (tenant.user_slots IS NOT NULL AND book.users IS NULL AND book.in_use > 0)
                        OR lane.queue_id || ':' || lane.tenant_id = ANY(%(locked)s::text[])  -- guard I2
                        AS passed_over,
                        rate_full_at(tenant.rate_window, book.full_at, walk.now) AS full_at,
                        worked_since(lane.in_use, lane.tickets, walk.now) AS seconds,
                        CASE
                            WHEN %(borrow)s AND tenant.num_slots > 0 THEN greatest(tenant.num_slots, tenant.burst_slots)
                            ELSE tenant.num_slots
                        END AS num_slots,
                        greatest(tenant.num_slots - coalesce(book.in_use, 0), 0) AS own_slots
                    OFFSET 0  -- here and below: compute each column once, otherwise each use would repeat its formula
                ) o
                OFFSET 0
            ) o
            OFFSET 0
        ) own
        CROSS JOIN LATERAL (
            SELECT f.by_user, coalesce((f.by_user).places, f.places) AS front FROM (
                SELECT
                    CASE WHEN tenant.user_slots IS NULL THEN ARRAY(
                        SELECT job_place(j.priority, j.id) FROM jobs j
                        WHERE j.ready_at IS NOT NULL
                          AND j.queue_id = walk.queue_id AND j.tenant_id = lane.tenant_id
                          AND (j.priority, j.id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
                        ORDER BY j.priority, j.id
                        LIMIT CASE WHEN own.wanted > 0 THEN own.wanted + 8 ELSE 0 END
                    ) END AS places,
                    CASE WHEN tenant.user_slots IS NOT NULL THEN front_by_user(
                        lane.queue_id, lane.tenant_id, lane.last_user, book.users, tenant.user_slots, own.wanted
                    ) END AS by_user
                OFFSET 0
            ) f
        ) line
        WHERE walk.found < walk.room AND walk.nth < %(visits)s::int AND NOT walk.late
    )
    SELECT * FROM walk
),
