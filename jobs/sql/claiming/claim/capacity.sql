-- 1. The places to fill: queues that are open, and how many jobs each may be given now. At most 100 for a queue in one pass:
-- what is ranked grows with the square of it.
-- In seconds: `credit`, how far behind the time of its pool or queue nobody is; `quantum`, how far ahead of it a lane may
-- be while others have not been looked at; `slot`, how much one slot in use weighs against what was used before.
rule AS MATERIALIZED (SELECT 1.0::float8 AS credit, 0.3::float8 AS quantum, 1.0::float8 AS slot, 100 AS batch),
open_queue AS MATERIALIZED (
    SELECT
        q.id, q.pool, q.weight, q.rate_limit, q.rate_window, q.full_at, q.in_use, q.seconds,
        q.turn_row, q.virtual_time, q.pool_time, q.lane_time, q.head, q.circle_end, q.round_least,
        q.pool_capacity - q.pool_in_use AS pool_free,
        least(q.concurrency - q.in_use, q.tokens)::float8 AS free,
        greatest(least(q.pool_capacity - q.pool_in_use, q.concurrency - q.in_use, q.tokens, rule.batch), 0)::int AS places
    FROM queue_state q CROSS JOIN rule
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
      AND NOT q.paused  -- guard
      AND q.pool_capacity > q.pool_in_use
      AND (q.concurrency IS NULL OR q.concurrency > q.in_use)
      AND (q.rate_limit IS NULL OR q.tokens >= 1)
),
