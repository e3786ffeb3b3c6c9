-- 1. The room: the open queues, by their books, and the number of jobs that each may get now.
turn AS (
    SELECT q.*, t.* FROM queues q LEFT JOIN LATERAL (
        SELECT ctid AS row, * FROM queue_turns WHERE queue_id = q.id ORDER BY version DESC LIMIT 1
    ) t ON true
),
-- include shared/queue_states
open_queue AS MATERIALIZED (
    SELECT
        id, pool, weight, in_use, rate_limit, rate_window, turn_row, head, circle_end, lane_time, round_least, round_growth,
        pool_capacity - pool_in_use AS pool_free, most.room,
        greatest(%(quantum)s::float8, 2 * mean_seconds) AS quantum,
        greatest(virtual_time + seconds / weight, pool_now - %(credit)s::float8 / weight) AS present
    FROM queue_state
    CROSS JOIN LATERAL (
        SELECT least(pool_capacity - pool_in_use, concurrency - in_use, tokens, %(batch)s::int)::int AS room
    ) most
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
      AND NOT paused  -- guard
      AND turn_row IS NOT NULL  -- an arrival brings it
      AND most.room >= 1
),
