-- Change: give waiting jobs the priority of the most urgent call that has joined them. A job that waits for a further attempt is due
--         now if such a call is for now, and that attempt counts as no retry. Not an arrow: the clock promotes what is due.
--         Returns the jobs.
-- Who:    submit, for jobs that identical calls have joined.
-- Locks:  the rows, by id, until the caller's transaction ends; it skips locked ones: a call that joins a job never waits.
-- Index:  primary key.
WITH
-- include shared/clock
asked AS MATERIALIZED (
    SELECT id, min(priority) AS priority, bool_or(soon) AS soon
    FROM unnest(%(ids)s::bigint[], %(priorities)s::smallint[], %(soons)s::bool[]) AS a (id, priority, soon)
    GROUP BY id
),
mine AS MATERIALIZED (
    SELECT
        j.id, asked.priority,
        asked.soon AND j.status = 'scheduled' AND j.attempt > 0
            AND j.due_at > clock.now AND j.due_at < %(held_until)s::timestamptz AS forward
    FROM jobs j JOIN asked USING (id) CROSS JOIN clock
    WHERE j.status IN ('blocked', 'scheduled', 'created')  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
hastened AS (
    UPDATE jobs
    SET priority = least(jobs.priority, mine.priority),
        due_at = CASE WHEN mine.forward THEN clock.now ELSE jobs.due_at END,
        retries = CASE WHEN mine.forward THEN greatest(jobs.retries - 1, 0) ELSE jobs.retries END
    FROM mine CROSS JOIN clock
    WHERE jobs.id = mine.id
    RETURNING jobs.id, jobs.tenant_id, jobs.queue_id, jobs.priority, jobs.ready_at, mine.forward
),
arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM hastened WHERE ready_at IS NOT NULL
)
-- include shared/arrive
SELECT hastened.id
FROM hastened CROSS JOIN (  -- as a submit of a job that is due later does
    SELECT count(pg_notify('jobs_due', ''))
    FROM (SELECT FROM hastened WHERE forward LIMIT 1) due
    WHERE pg_notification_queue_usage() < 0.9
) woken
