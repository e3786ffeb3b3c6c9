-- 1. The room: the open queues of each pool in their order, by their books; and the number of jobs that each may get now.
-- A pass reads the turns of the queues that are awake: that have ready lanes, jobs in slots, or the time of their pool. Now and then
-- they are written anew (tidy_turns.sql), so none is older than `floor`, and no dead version before it is read.
turn AS MATERIALIZED (
    SELECT q.*, t.*
    FROM (
-- include shared/awake_turns
    ) t
    CROSS JOIN LATERAL (SELECT * FROM queues WHERE id BETWEEN t.queue_id AND t.queue_id ORDER BY id LIMIT 1) q
),
-- include shared/pool_states
-- free: the jobs that this pass may start in the pool. A light pool is left to the feeders of its workers (served is false): each
-- claims for the free seats of its own worker. While other workers have free ones, too (`others`), it
-- takes its share of the pool's, rounded up, so that the first of several does not take all.
pool_room AS MATERIALIZED (
    SELECT p.*, own.pool IS NOT NULL OR NOT coalesce(l.light, false) AS served, p.capacity - p.in_use - own.seats AS others,
        least(p.capacity - p.in_use, own.seats, greatest(
            2 * own.seats - (p.capacity - p.in_use), ((p.capacity - p.in_use) * own.concurrency + p.capacity - 1) / p.capacity
        ))::int AS free
    FROM pool_state p
    LEFT JOIN live_pool l ON l.pool = p.pool
    LEFT JOIN (
        SELECT pool, concurrency::bigint, %(seats)s::int AS seats FROM present_worker
        WHERE id = %(feeder)s::uuid
          AND live  -- guard
          AND %(seats)s::int > 0
    ) own ON own.pool = p.pool
    WHERE p.capacity > p.in_use
),
-- A pass looks at as many queues of a pool as the pool has room for, and some more, since a visit may find no lane to serve. Before
-- it lends, it looks at all. Queues in which others have locked jobs come last, so that they hide no other queue; and one without a
-- ready lane is there for its pool. Of a pool that it does not serve it looks at one, to ring its feeders. nth: its number in its pool. key: that of the first job that it gets.
asked AS MATERIALIZED (
    SELECT first.*
    FROM pool_room p CROSS JOIN LATERAL (
        SELECT *, row_number() OVER ()::int AS nth
        FROM (
            SELECT *, CASE
                WHEN ready AND id <> ALL(%(locked_queues)s::bigint[]) THEN present + %(slot)s::float8 * in_use / weight ELSE 'infinity'
            END AS key
            FROM (
                SELECT
                    id, name, pool, weight, in_use, tenant_slots, rate_limit, rate_window, full_at, turn_row, opened_at, head, circle_end, lane_time, round_least,
                    round_growth, p.free AS pool_free, p.served, p.others, state = 'ready' AS ready,
                    least(p.free, concurrency - in_use, tokens, %(batch)s::int)::int AS room,
                    greatest(%(quantum)s::float8, 2 * mean_seconds) AS quantum,
                    greatest(virtual_time + seconds / weight, pool_now - %(credit)s::float8 / weight) AS present
                FROM (
                    SELECT
-- include shared/queue_now
                    FROM turn t
                    CROSS JOIN clock
                    CROSS JOIN LATERAL (SELECT coalesce(date_part('epoch', clock.now - t.timed_at), 0) AS seconds) passed
                    CROSS JOIN LATERAL (SELECT CASE WHEN t.rate_limit IS NOT NULL THEN
                        rate_full_at(t.rate_limit, t.rate_window, t.full_at, t.full_limit, t.full_window, clock.now)
                    END AS full_at) bucket
                    WHERE t.pool = p.pool
                      AND NOT t.paused  -- guard
                      AND coalesce(t.opened_at <= clock.now, true)  -- guard
                ) q
                OFFSET 0
            ) q
            WHERE room >= 1
            ORDER BY key, NOT ready, present, weight DESC, id  -- only the first is compared without reading the rows
            LIMIT CASE WHEN NOT p.served THEN 1 WHEN NOT %(borrow)s THEN p.free + %(queues)s::int END
        ) q
    ) first
),
