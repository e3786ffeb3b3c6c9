-- Arrow:  release, scheduled -> created, for the held jobs whose type is not paused (any more), and that spend no budget that is
--         used up. One that waits for a running
--         job is due instead, and stays scheduled: the clock looks whether that has ended.
-- Who:    the operator who resumes a type; the clock, for a job that was submitted while its type was being resumed.
-- Locks:  the rows; it skips locked rows until the clock's next pass. Index: jobs_due.
WITH released AS (
    UPDATE jobs j
    SET status = CASE WHEN held.waits THEN 'scheduled' ELSE 'created' END,
        ready_at = CASE WHEN NOT held.waits THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END,
        due_at = CASE WHEN held.waits THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END
    FROM (
        SELECT j.id, j.behind IS NOT NULL AS waits FROM jobs j
        WHERE j.due_at = %(held_until)s  -- guard
          AND (j.source_type, j.source_method) NOT IN (SELECT source_type, source_method FROM paused_job_types)  -- guard
          AND NOT (
              -- include shared/spent
          )  -- guard
        ORDER BY j.id
        FOR NO KEY UPDATE OF j SKIP LOCKED
    ) held
    WHERE j.id = held.id
    RETURNING j.id, j.attempt, j.tenant_id, j.queue_id, j.priority, j.status
),
arriving AS (SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM released WHERE status = 'created')
-- include shared/arrive
SELECT id, attempt, tenant_id FROM released WHERE status = 'created'
