-- Change: `may_run` has some of the jobs that may run, and since when they can: those that still may stay, and the first of
--         the lanes whose turn is next join them, up to `most` in all. Who finds one there some seconds later knows that it
--         was not just being claimed. A job whose user has no free slot is not noted. One that ran since it was noted, and
--         is ready again, leaves, and is noted anew at the next look.
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
    SELECT tenant_id, queue_id, position, passing, user_slots, users FROM lane_cut
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
    SELECT n.job_id FROM noted n JOIN open_lane l ON l.tenant_id = n.tenant_id AND l.queue_id = n.queue_id
),
next AS MATERIALIZED (
    SELECT job.id
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
)
INSERT INTO may_run (job_id, since)
SELECT next.id, clock.now FROM next CROSS JOIN clock
WHERE NOT next.id = ANY(ARRAY(SELECT job_id FROM still))
LIMIT greatest(%(most)s - (SELECT count(*) FROM still), 0)
ON CONFLICT (job_id) DO NOTHING
