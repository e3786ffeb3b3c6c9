-- 6. Move on: a visited lane goes to the end of the circle, or leaves it until an arrival or a freed slot brings it back.
-- Update the queues' turns and the buckets; from time to time renew the memory of the jobs in use.
tenant_taken AS MATERIALIZED (SELECT tenant_id, count(*)::int AS n FROM claimed GROUP BY tenant_id),
outcome AS MATERIALIZED (  -- of each visit. rest: the first place of the front that was not taken
    SELECT
        v.queue_id, v.tenant_id, v.position, v.lane_row, v.virtual_time - v.seconds / v.weight AS virtual_time,
        v.user_slots IS NOT NULL AS by_user, v.last_user, v.all_users, v.rate_limit, v.rate_window, v.bucket_row,
        v.wanted, mine.n AS taken, mine.last, rest.place AS rest, coalesce(t.n, 0) AS tenant_taken,
        CASE
            WHEN v.passed_over THEN 'ready'
            WHEN v.tenant_free <= coalesce(t.n, 0) THEN 'closed'
            WHEN v.user_slots IS NOT NULL AND cardinality(v.front) = 0 AND v.all_users THEN 'closed'
            WHEN v.user_slots IS NULL AND rest.place IS NULL AND cardinality(v.front) < v.wanted + 8 THEN 'empty'
            ELSE 'ready'
        END AS state,
        CASE WHEN v.rate_limit IS NOT NULL THEN
            greatest(v.full_at, clock.now) + coalesce(t.n, 0) * v.rate_window / v.rate_limit * interval '1 second'
        END AS full_then
    FROM visit v
    CROSS JOIN clock
    LEFT JOIN tenant_taken t ON t.tenant_id = v.tenant_id
    CROSS JOIN LATERAL (
        SELECT count(*)::int AS n, max(c.place) AS last FROM claimed c
        WHERE c.queue_id = v.queue_id AND c.tenant_id = v.tenant_id
    ) mine
    CROSS JOIN LATERAL (
        SELECT min(w.place) AS place FROM unnest(v.front) AS w (place)
        WHERE NOT EXISTS (SELECT FROM claimed c WHERE c.place = w.place)
    ) rest
    WHERE v.nth > 0
),
-- A lane that could have been served, but was not, is visited first the next time.
placed AS MATERIALIZED (
    SELECT *, nextval('door_seq') AS number FROM (SELECT * FROM outcome ORDER BY taken > 0, position) outcome
),
lanes_moved_on AS (
    UPDATE lanes l
    SET version = o.number,
        position = circle_place(o.number, NULL),
        state = o.state,
        virtual_time = greatest(l.virtual_time, o.virtual_time),
        head = CASE WHEN o.by_user THEN l.head ELSE coalesce(o.rest, o.last + 1, l.head) END,
        waiting = l.waiting - o.taken,  -- below 0 if it came after the fold: its arrival follows
        last_user = CASE WHEN o.all_users THEN '' ELSE o.last_user END,
        opens_at = CASE WHEN o.state = 'closed' AND o.opens_at > clock.now THEN o.opens_at END
    FROM (
        SELECT
            lane_row, state, virtual_time, by_user, rest, last, taken, all_users, last_user, number,
            rate_next_at(rate_limit, rate_window, full_then) AS opens_at
        FROM placed
    ) o
    CROSS JOIN clock
    WHERE l.ctid = o.lane_row
),
turn AS MATERIALIZED (
    SELECT
        q.id AS queue_id, q.turn_row, q.head, tour.position,
        greatest(q.virtual_time, c.present - q.seconds / q.weight) AS virtual_time,
        greatest(q.pool_time, least(c.pool_now, of_pool.least), of_pool.least) AS pool_time,
        CASE
            WHEN tour.whole THEN greatest(q.lane_time, tour.least)
            WHEN tour.position >= q.circle_end THEN greatest(q.lane_time, least(q.round_least, tour.least))
            ELSE q.lane_time
        END AS lane_time,
        -- The next round ends with the last lane placed now. It must visit every lane once: otherwise the time would
        -- follow the lanes that are visited first.
        CASE WHEN tour.whole OR tour.position >= q.circle_end THEN (
            SELECT circle_place(max(placed.number), NULL) FROM placed WHERE placed.queue_id = q.id
        ) ELSE q.circle_end END AS circle_end,
        CASE WHEN NOT (tour.whole OR tour.position >= q.circle_end) THEN least(q.round_least, tour.least) END AS round_least,
        CASE WHEN q.rate_limit IS NOT NULL THEN
            greatest(q.full_at, clock.now) + mine.n * q.rate_window / q.rate_limit * interval '1 second'
        END AS full_at
    FROM open_queue q
    CROSS JOIN clock
    JOIN tour ON tour.queue_id = q.id AND tour.moved
    LEFT JOIN contender c ON c.id = q.id
    LEFT JOIN LATERAL (SELECT min(other.present) AS least FROM contender other WHERE other.pool = c.pool) of_pool ON true
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM claimed WHERE claimed.queue_id = q.id) mine
),
turns_moved_on AS (
    UPDATE queue_turns t
    SET version = nextval('door_seq'),
        virtual_time = turn.virtual_time,
        pool_time = turn.pool_time,
        lane_time = turn.lane_time,
        head = turn.position,
        circle_end = turn.circle_end,
        round_least = turn.round_least,
        full_at = turn.full_at
    FROM turn
    WHERE t.ctid = turn.turn_row
),
turns_begun AS (
    INSERT INTO queue_turns
        (queue_id, version, virtual_time, pool_time, lane_time, head, circle_end, round_least, full_at)
    SELECT
        queue_id, nextval('door_seq'), virtual_time, pool_time, lane_time, position,
        circle_end, round_least, full_at
    FROM turn
    WHERE turn_row IS NULL
),
bucket AS MATERIALIZED (
    SELECT DISTINCT ON (tenant_id) tenant_id, bucket_row, full_then AS full_at
    FROM outcome
    WHERE rate_limit IS NOT NULL AND tenant_taken > 0
    ORDER BY tenant_id
),
buckets_drawn_on AS (
    UPDATE tenant_buckets b SET version = nextval('door_seq'), full_at = bucket.full_at
    FROM bucket WHERE b.ctid = bucket.bucket_row
),
buckets_begun AS (
    INSERT INTO tenant_buckets (tenant_id, version, full_at)
    SELECT tenant_id, nextval('door_seq'), full_at FROM bucket WHERE bucket_row IS NULL
),
remembered AS (
    UPDATE door
    SET version = nextval('door_seq'),
        horizon = latest.ticket,
        survivors = ARRAY(SELECT ticket FROM in_use UNION ALL SELECT ticket FROM claimed)
    FROM memory
    CROSS JOIN LATERAL (
        SELECT greatest((SELECT max(ticket) FROM claimed), (SELECT max(ticket) FROM in_use)) AS ticket
    ) latest
    WHERE door.ctid = memory.row
      AND latest.ticket > memory.horizon + 500
),
short AS MATERIALIZED (  -- lanes whose first jobs others have locked
    SELECT s.queue_id, s.tenant_id FROM served s
    WHERE s.n > (SELECT count(*) FROM locked l WHERE l.queue_id = s.queue_id AND l.tenant_id = s.tenant_id)
),
verdict AS MATERIALIZED (
    SELECT
        coalesce(bool_or(of_pool.taken < of_pool.free AND (
            of_pool.candidates > of_pool.taken OR NOT of_pool.whole OR of_pool.more_users
            OR (of_pool.taken > 0 AND of_pool.free > rule.batch)
        )), false) AS more,
        ARRAY(SELECT pair.id FROM short CROSS JOIN LATERAL unnest(ARRAY[queue_id, tenant_id]) AS pair (id)) AS locked
    FROM (
        SELECT
            max(q.pool_free) AS free, bool_and(tour.whole) AS whole,
            bool_or(EXISTS (  -- a lane's users have got all that they may start, and other users wait
                SELECT FROM outcome o
                WHERE o.queue_id = q.id AND o.state = 'ready' AND NOT o.all_users AND o.taken > 0 AND o.taken = o.wanted
            )) AS more_users,
            (SELECT count(*) FROM ranked r WHERE r.pool = q.pool) AS candidates,
            (SELECT count(*) FROM claimed c WHERE c.pool = q.pool) AS taken
        FROM open_queue q JOIN tour ON tour.queue_id = q.id
        GROUP BY q.pool
    ) of_pool
    CROSS JOIN rule
)
