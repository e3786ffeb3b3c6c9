-- 3. The order of turns (docs/adr/0005).
-- Within a lane: priority, then submission (I6). Between the lanes of a queue, and between the queues of a pool: the least
-- use first, which is virtual time + weight of one slot * (slots in use + rank) / weight. Virtual time is worker-seconds
-- divided by the weight: start-time fair queueing (Goyal, Vin, Cheng 1996). The second term shares the room of this
-- moment; the first evens out over time what whole jobs cannot share.
-- The lanes of a queue have a common time, which only increases: the least virtual time of the lanes that could be served,
-- taken when a round is complete. The same holds for the queues of a pool. No lane is further behind it than its credit,
-- so that a tenant that was paused, full, idle or new does not starve the others later. During a round, only lanes at most
-- a quantum ahead of that time are served: deficit round robin (Shreedhar, Varghese 1995). So not all need be visited.
tour AS MATERIALIZED (  -- of a queue, in this pass. whole: it visits the whole circle
    SELECT
        last.queue_id, last.position, last.nth > 0 AS moved,
        last.found < last.room AND last.nth < 1000 AS whole,
        least.virtual_time AS least
    FROM (
        SELECT DISTINCT ON (queue_id) queue_id, position, nth, found, room FROM visit ORDER BY queue_id, nth DESC
    ) last
    CROSS JOIN LATERAL (
        SELECT min(v.virtual_time) AS virtual_time FROM visit v
        WHERE v.queue_id = last.queue_id AND cardinality(v.front) > 0
    ) least
),
candidate AS MATERIALIZED (
    SELECT
        v.queue_id, v.tenant_id, v.position, v.tenant_free, r.rank AS lane_rank,
        row_number() OVER (
            PARTITION BY v.queue_id
            ORDER BY v.virtual_time + rule.slot * (v.lane_in_use + r.rank - 1) / v.weight, v.weight DESC, v.position
        ) AS queue_rank
    FROM visit v
    CROSS JOIN rule
    JOIN tour ON tour.queue_id = v.queue_id
    CROSS JOIN LATERAL generate_series(1, least(cardinality(v.front), v.wanted)) AS r (rank)
    WHERE tour.whole OR v.virtual_time <= v.lane_time + rule.quantum / v.weight
),
pool_time AS MATERIALIZED (SELECT pool, max(pool_time) AS now FROM queue_state GROUP BY pool),
contender AS MATERIALIZED (  -- the queues with a lane to serve
    SELECT
        q.id, q.pool, q.weight, q.in_use, q.seconds, q.pool_free, q.free, pool_time.now AS pool_now,
        greatest(q.virtual_time + q.seconds / q.weight, pool_time.now - rule.credit / q.weight) AS present
    FROM open_queue q
    CROSS JOIN rule
    JOIN pool_time ON pool_time.pool = q.pool
    WHERE q.id IN (SELECT queue_id FROM candidate)
),
ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY tenant_id, pool ORDER BY pool_rank) AS tenant_rank
    FROM (
        SELECT
            c.*, q.pool, q.pool_free, q.free AS queue_free,
            row_number() OVER (
                PARTITION BY q.pool
                ORDER BY q.present + rule.slot * (q.in_use + c.queue_rank - 1) / q.weight, q.weight DESC, q.id, c.queue_rank
            ) AS pool_rank
        FROM candidate c
        CROSS JOIN rule
        JOIN contender q ON q.id = c.queue_id
    ) in_pool
),
