-- Change: `may_run` has some of the jobs that may run, and since when they can: those that still may stay, and the first of
--         the lanes whose turn is next join them, up to `most` in all. Who finds one there some seconds later knows that it
--         was not just being claimed. A job whose user has no free slot is not noted. One that ran since it was noted, and
--         is ready again, leaves, and is noted anew at the next look. idle_looks: at how many looks in a row, up to this one,
--         the pool of the job had an idle process: one that has just ended a job, or waits at the door, is idle for a moment.
-- Who:    the recorder, every few seconds. Locks: rows that only the recorder writes.
-- Index:  primary keys of jobs, lanes and arrivals; jobs_claim, for at most `most` lanes.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/books
-- include shared/queue_states
-- include shared/uses
-- include shared/in_line
line AS (SELECT *, NULL::timestamptz AS since FROM in_line),
-- include shared/lane_cuts
open_lane AS MATERIALIZED (
    SELECT tenant_id, queue_id, position, passing, user_slots, users, pool_in_use < pool_capacity AS idle
    FROM lane_cut JOIN (SELECT id AS queue_id, pool_in_use, pool_capacity FROM queue_state) q USING (queue_id)
    WHERE passing > 0  -- guard
      AND (room IS NULL OR room > 0)  -- guard
),
noted AS MATERIALIZED (
    SELECT m.job_id, j.tenant_id, j.queue_id
    FROM may_run m
    CROSS JOIN LATERAL (
        SELECT j.tenant_id, j.queue_id FROM jobs j
        WHERE j.id BETWEEN m.job_id AND m.job_id
          AND j.ready_at <= m.since  -- guard
        ORDER BY j.id LIMIT 1
    ) j
),
still AS MATERIALIZED (
    SELECT n.job_id, l.idle FROM noted n JOIN open_lane l ON l.tenant_id = n.tenant_id AND l.queue_id = n.queue_id
),
next AS MATERIALIZED (
    SELECT job.id, l.idle
    FROM (SELECT * FROM open_lane ORDER BY position NULLS FIRST, tenant_id, queue_id LIMIT %(most)s) l
    CROSS JOIN LATERAL (
        SELECT
            j.id,
            l.user_slots IS NOT NULL AND j.user_key <> ''
                AND l.user_slots <= coalesce((l.users ->> j.user_key)::int, 0) AS user_is_full
        FROM jobs j
        WHERE j.ready_at IS NOT NULL AND j.queue_id = l.queue_id AND j.tenant_id = l.tenant_id
        ORDER BY j.priority, j.id
        LIMIT least(l.passing, %(each)s)
    ) job
    WHERE NOT job.user_is_full  -- guard
    LIMIT %(most)s
),
gone AS (
    DELETE FROM may_run WHERE NOT job_id = ANY(ARRAY(SELECT job_id FROM still))
),
looked AS (
    UPDATE may_run m SET idle_looks = CASE WHEN still.idle THEN m.idle_looks + 1 ELSE 0 END
    FROM still WHERE m.job_id = still.job_id
)
INSERT INTO may_run (job_id, since, idle_looks)
SELECT next.id, clock.now, next.idle::int FROM next CROSS JOIN clock
WHERE NOT next.id = ANY(ARRAY(SELECT job_id FROM still))
LIMIT greatest(%(most)s - (SELECT count(*) FROM still), 0)
ON CONFLICT (job_id) DO NOTHING
