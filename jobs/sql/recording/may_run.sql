-- Reads:  some of the jobs that may run: those of `seen` that still may, and the first of the lanes whose turn is next, `each`
--         of a lane and `most` in all. A job whose user has no free slot is none. idle: its pool has an idle process.
-- Who:    the recorder, every few seconds. Locks: none.
-- Index:  primary keys of jobs, lanes and arrivals; jobs_claim, for at most `most` lanes.
WITH
-- include shared/present
-- include shared/uses
-- include shared/in_line
line AS (SELECT *, NULL::timestamptz AS since FROM in_line),
-- include shared/lane_cuts
open_lane AS MATERIALIZED (
    SELECT tenant_id, queue_id, position, passing, user_slots, users, pool, pool_in_use < pool_capacity AS idle
    FROM lane_cut JOIN (SELECT id AS queue_id, pool, pool_in_use, pool_capacity FROM queue_state) q USING (queue_id)
    WHERE passing > 0  -- guard
      AND (room IS NULL OR room > 0)  -- guard
),
candidate AS MATERIALIZED (
    SELECT j.*
    FROM unnest(%(seen)s::bigint[]) AS seen (id)
    CROSS JOIN LATERAL (
        SELECT id, ready_at, user_key, tenant_id, queue_id FROM jobs
        WHERE id BETWEEN seen.id AND seen.id AND ready_at IS NOT NULL ORDER BY id LIMIT 1
    ) j
    UNION
    SELECT j.*
    FROM (SELECT * FROM open_lane ORDER BY position NULLS FIRST, tenant_id, queue_id LIMIT %(most)s) l
    CROSS JOIN LATERAL (
        SELECT id, ready_at, user_key, tenant_id, queue_id FROM jobs
        WHERE ready_at IS NOT NULL AND queue_id = l.queue_id AND tenant_id = l.tenant_id
        ORDER BY priority, id
        LIMIT least(l.passing, %(each)s)
    ) j
)
SELECT c.id, c.ready_at, l.pool, l.idle
FROM candidate c JOIN open_lane l ON l.tenant_id = c.tenant_id AND l.queue_id = c.queue_id
WHERE (l.user_slots <= coalesce((l.users ->> c.user_key)::int, 0) AND c.user_key <> '') IS NOT TRUE  -- guard
