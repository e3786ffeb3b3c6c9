-- 1. The room: the open queues, and the number of jobs that each may get now. At most 100 per queue in one pass: the number
-- of ranked rows grows with the square of it.
-- In seconds: `credit`, the most that a lane or queue can be behind the time of its queue or pool; `quantum`, the most that
-- a lane may be ahead of it while others are unvisited; `slot`, the weight of one slot in use against earlier use.
rule AS MATERIALIZED (SELECT 1.0::float8 AS credit, 0.3::float8 AS quantum, 1.0::float8 AS slot, 100 AS batch),
open_queue AS MATERIALIZED (
    SELECT
        q.id, q.pool, q.weight, q.rate_limit, q.rate_window, q.full_at, q.in_use, q.seconds,
        q.turn_row, q.virtual_time, q.pool_time, q.lane_time, q.head, q.circle_end, q.round_least,
        q.pool_capacity - q.pool_in_use AS pool_free,
        least(q.concurrency - q.in_use, q.tokens)::float8 AS free,
        greatest(least(q.pool_capacity - q.pool_in_use, q.concurrency - q.in_use, q.tokens, rule.batch), 0)::int AS room
    FROM queue_state q CROSS JOIN rule
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
      AND NOT q.paused  -- guard
      AND q.pool_capacity > q.pool_in_use
      AND (q.concurrency IS NULL OR q.concurrency > q.in_use)
      AND (q.rate_limit IS NULL OR q.tokens >= 1)
),
