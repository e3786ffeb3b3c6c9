-- Change: give waiting jobs the priority of the most urgent call that has joined them. A job that waits for its retry after a
--         failure is due now if such a call is for now, and that attempt counts as no retry. Not an arrow: the clock promotes
--         what is due. Returns the jobs.
-- Who:    submit, for jobs that identical calls have joined.
-- Locks:  the rows, by id, until the caller's transaction ends; it skips locked ones: a call that joins a job never waits.
-- Index:  primary key; failed_attempts_once.
-- Other pauses stay: the body asked for one itself (RetryLater), no worker knows the type, or a process has died, and the next
-- ones are spared for a while. None of them has counted a retry.
WITH
-- include shared/clock
asked AS MATERIALIZED (
    SELECT id, min(priority) AS priority, bool_or(soon) AS soon
    FROM unnest(%(ids)s::bigint[], %(priorities)s::smallint[], %(soons)s::bool[]) AS a (id, priority, soon)
    GROUP BY id
),
mine AS MATERIALIZED (
    SELECT j.id, asked.priority, retry.forward
    FROM jobs j
    JOIN asked USING (id)
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT asked.soon AND j.status = 'scheduled' AND j.due_at > clock.now AND j.due_at < %(held_until)s::timestamptz
            AND j.crashes = 0  -- guard
            AND EXISTS (
                SELECT FROM failed_attempts f
                WHERE f.job_id = j.id AND f.attempt = j.attempt
                  AND f.error_class <> ALL(%(no_fault)s)  -- guard
            ) AS forward
    ) retry
    WHERE j.status IN ('blocked', 'scheduled', 'created')  -- guard
      AND (asked.priority < j.priority OR retry.forward)
    ORDER BY j.id
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
hastened AS (
    UPDATE jobs
    SET priority = least(jobs.priority, mine.priority),
        due_at = CASE WHEN mine.forward THEN clock.now ELSE jobs.due_at END,
        retries = jobs.retries - mine.forward::int
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
