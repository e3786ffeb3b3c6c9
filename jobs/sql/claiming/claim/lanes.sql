-- 2. The visited lanes: go round the circle of each open queue, from the end of the last pass, until there are as many lanes
-- to serve as there is room for, or the circle ends. A visited lane goes to the end of the circle, so none is met twice, and those
-- before `head` are done. At most 1,000 visits in one pass; the next pass continues.
-- front: the places of the lane's first jobs, and some more to replace those that others have locked.
visit AS MATERIALIZED (
    WITH RECURSIVE walk AS (
        SELECT
            q.id AS queue_id, q.room, q.lane_time, q.head AS position, 0 AS nth, 0 AS found,
            NULL::tid AS lane_row, NULL::bigint AS tenant_id, 1 AS weight, 0 AS num_slots, 0 AS tenant_in_use,
            0 AS lane_in_use, 0::float8 AS tenant_free, NULL::int AS rate_limit, NULL::float8 AS rate_window,
            NULL::tid AS bucket_row, NULL::timestamptz AS full_at, 0::float8 AS seconds,
            0::float8 AS virtual_time, 0 AS wanted, NULL::int AS user_slots, NULL::bigint[] AS front,
            ''::varchar AS last_user, true AS all_users, false AS passed_over
        FROM open_queue q
        UNION ALL
        SELECT
            walk.queue_id, walk.room, walk.lane_time, lane.position, walk.nth + 1,
            walk.found + (cardinality(waiting.front) > 0
                AND own.virtual_time <= walk.lane_time + rule.quantum / tenant.weight)::int,
            lane.ctid, lane.tenant_id, tenant.weight, tenant.num_slots, used.n, used.in_lane, own.free,
            tenant.rate_limit, tenant.rate_window, bucket.row, own.full_at, used.seconds, own.virtual_time,
            coalesce(waiting.startable, own.wanted), tenant.user_slots, waiting.front,
            waiting.last_user, waiting.all_users, own.passed_over
        FROM walk
        CROSS JOIN rule
        CROSS JOIN clock
        CROSS JOIN LATERAL (
            SELECT ctid, queue_id, tenant_id, position, virtual_time, head, last_user FROM lanes
            WHERE state = 'ready' AND queue_id = walk.queue_id AND position > walk.position
            ORDER BY position
            LIMIT 1
        ) lane
        CROSS JOIN LATERAL (  -- a tenant without a row, or a paused one, has no slots
            SELECT
                coalesce(max(weight), 1) AS weight, coalesce(max(num_slots), 0) AS num_slots,
                max(user_slots) AS user_slots, max(rate_limit) AS rate_limit, max(rate_window) AS rate_window
            FROM (
                SELECT weight, num_slots, user_slots, rate_limit, rate_window FROM tenant_queues
                WHERE tenant_id BETWEEN lane.tenant_id AND lane.tenant_id
                  AND NOT paused  -- guard
                ORDER BY tenant_id
                LIMIT 1
            ) tq
        ) tenant
        CROSS JOIN LATERAL (
            SELECT
                count(*)::int AS n, count(*) FILTER (WHERE u.queue_id = walk.queue_id)::int AS in_lane,
                coalesce(sum(u.seconds) FILTER (WHERE u.queue_id = walk.queue_id), 0) AS seconds
            FROM in_use u
            WHERE u.tenant_id = lane.tenant_id
        ) used
        LEFT JOIN LATERAL (
            SELECT b.ctid AS row, b.full_at FROM tenant_buckets b
            WHERE b.tenant_id = lane.tenant_id AND tenant.rate_limit IS NOT NULL
            ORDER BY version DESC
            LIMIT 1
        ) bucket ON true
        CROSS JOIN LATERAL (
            SELECT
                o.*, CASE WHEN o.passed_over THEN 0 ELSE least(o.free, walk.room)::int END AS wanted
            FROM (
                SELECT
                    EXISTS (
                        SELECT FROM unnest(%(locked_queues)s::bigint[], %(locked_tenants)s::bigint[]) AS l (q, t)
                        WHERE l.q = walk.queue_id AND l.t = lane.tenant_id  -- guard I2
                    ) AS passed_over,
                    rate_full_at(tenant.rate_window, bucket.full_at, clock.now) AS full_at,
                    greatest(least(
                        tenant.num_slots - used.n,
                        rate_tokens(tenant.rate_limit, tenant.rate_window, bucket.full_at, clock.now)
                    ), 0)::float8 AS free,
                    greatest(
                        lane.virtual_time + used.seconds / tenant.weight, walk.lane_time - rule.credit / tenant.weight
                    ) AS virtual_time
            OFFSET 0) o
            OFFSET 0  -- compute each column once: otherwise each use would repeat its formula
        ) own
        CROSS JOIN LATERAL (
            -- include front
        ) waiting
        WHERE walk.found < walk.room AND walk.nth < 1000
    )
    SELECT * FROM walk
),
