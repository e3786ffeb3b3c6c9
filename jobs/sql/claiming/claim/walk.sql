-- 2. The walk: through the queues of a pool in their order, until there are as many lanes to serve as it has room for, and as many
-- queues. In a queue, round its circle, from the end of the last pass, until it has as many lanes as jobs that may come to it, by
-- the turns of those before it, or as are lacking; or the circle ends, which a visit without a lane says. A visited lane goes to
-- the end of the circle, so none is met twice, and those before `head` are done. It leaves a queue after so many visits; or,
-- after so long, each after one. The next pass continues.
-- turn: the number of the queue; nth: of the visit. found: lanes to serve, of `upto` for which this queue is visited.
-- front: the places of the lane's first jobs, and some more to replace those that others have locked. If the tenant limits its
-- users, they take turns, from `last_user` on. in_time: whether the lane is at most a quantum ahead of the others.
-- full_at: when the tenant's bucket is full. left: its free slots, with what it may borrow in a pass that lends; own_slots: without. free: those that it has
-- tokens for. lane_left: those that the lane may still take of the tenant's, in its queue; borrowed ones do not add to them.
visit AS (
    SELECT
        pool, 0 AS turn, NULL::bigint AS queue_id, 0 AS room, NULL::int AS queue_rate, 0 AS upto, 0::bigint AS position, 0 AS nth, 0 AS found,
        NULL::tid AS lane_row, NULL::bigint AS tenant_id, 0 AS lane_in_use, NULL::timestamptz AS opened_at, NULL::tenant_queues AS tenant,
        NULL::tid AS book_row, NULL::tenant_books AS book, 1 AS weight, false AS uncounted, false AS passed_over,
        0 AS left_slots, 0 AS own_slots, 0 AS lane_left, NULL::timestamptz AS full_at, 0::float8 AS free, 0::float8 AS virtual_time, false AS in_time, NULL::lane_front AS front
    FROM asked
    WHERE nth = 1
      AND served  -- guard
    UNION ALL
    SELECT
        q.pool, q.nth, q.id, q.room, q.rate_limit, here.upto, coalesce(lane.position, here.position),
        CASE WHEN clock_timestamp() > latest.moment THEN %(visits)s::int ELSE here.nth + (lane.row IS NOT NULL)::int END,
        v.found + (cardinality((own.front).places) > 0 AND own.in_time AND own.own_slots > 0)::int,
        lane.row, lane.tenant_id, lane.in_use, greatest(lane.opened_at, q.opened_at), t.tenant, b.row, b.book, own.*
    FROM visit v
    CROSS JOIN clock
    CROSS JOIN (SELECT statement_timestamp() + %(seconds)s::float8 * interval '1 s' AS moment) latest
    JOIN asked q ON q.pool = v.pool
        AND q.nth = v.turn + (v.lane_row IS NULL OR v.found >= v.upto OR v.nth >= %(visits)s::int)::int
        AND (q.ready AND q.nth < q.pool_free + %(queues)s::int OR q.nth = 1 OR %(borrow)s AND q.ready)
    CROSS JOIN LATERAL (
        SELECT
            CASE WHEN q.nth > v.turn THEN 0 ELSE v.nth END AS nth,
            CASE WHEN q.nth > v.turn THEN q.head ELSE v.position END AS position,
            CASE WHEN q.nth > v.turn THEN v.found + least(q.room, q.pool_free - least(q.nth - 1, v.found)) ELSE v.upto END AS upto
    ) here
    LEFT JOIN LATERAL (
        SELECT ctid AS row, tenant_id, position, in_use, tickets, virtual_time, head, last_user, opened_at FROM lanes
        WHERE state = 'ready' AND queue_id = q.id AND position > here.position
        ORDER BY position LIMIT 1
    ) lane ON true
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
            o.*, o.virtual_time <= q.lane_time + q.quantum / o.weight AS in_time,
            CASE
                WHEN (t.tenant).user_slots IS NOT NULL THEN front_by_user(
                    q.id, lane.tenant_id, lane.last_user, (b.book).users, (t.tenant).user_slots, least(o.free, o.lane_left, q.room)::int
                )
                ELSE ROW(ARRAY(
                    SELECT job_place(j.priority, j.id) FROM jobs j
                    WHERE j.ready_at IS NOT NULL AND j.queue_id = q.id AND j.tenant_id = lane.tenant_id
                      AND (j.priority, j.id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
                    ORDER BY j.priority, j.id
                    LIMIT CASE WHEN least(o.free, o.lane_left) > 0 THEN least(o.free, o.lane_left, q.room) + 8 ELSE 0 END
                ), least(o.free, o.lane_left, q.room), '', true)::lane_front
            END AS front
        FROM (
            SELECT
                o.*,
                CASE WHEN o.passed_over THEN 0 ELSE greatest(least(
                    o.left_slots, rate_tokens((t.tenant).rate_limit, (t.tenant).rate_window, o.full_at, clock.now)
                ), 0) END::float8 AS free,
                greatest(
                    lane.virtual_time + worked_since(lane.in_use, lane.tickets, clock.now) / o.weight,
                    q.lane_time - %(credit)s::float8 / o.weight
                ) AS virtual_time
            FROM (
                SELECT
                    coalesce((t.tenant).weight, 1) AS weight, u.uncounted,
                    u.uncounted
                    OR q.id || ':' || lane.tenant_id = ANY(%(locked)s::text[])  -- guard I2
                    AS passed_over,
                    greatest(
                        (t.tenant).num_slots, CASE WHEN %(borrow)s AND (t.tenant).num_slots > 0 THEN (t.tenant).burst_slots END, 0
                    ) - coalesce((b.book).in_use, 0) AS left_slots,
                    greatest((t.tenant).num_slots - coalesce((b.book).in_use, 0), 0) AS own_slots,
                    greatest(coalesce(((t.tenant).queue_slots -> q.name)::int, q.tenant_slots, 2147483647) - lane.in_use, 0) AS lane_left,
                    CASE WHEN (t.tenant).rate_limit IS NOT NULL THEN rate_full_at(
                        (t.tenant).rate_limit, (t.tenant).rate_window, (b.book).full_at, (b.book).full_limit, (b.book).full_window,
                        clock.now
                    ) END AS full_at
                FROM (SELECT (t.tenant).user_slots IS NOT NULL AND (b.book).users IS NULL AND (b.book).in_use > 0 AS uncounted) u
                OFFSET 0  -- here and below: compute each column once, otherwise each use would repeat its formula
            ) o
            OFFSET 0
        ) o
        OFFSET 0
    ) own
    WHERE least(q.nth - 1, v.found) < q.pool_free
),
