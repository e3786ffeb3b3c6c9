-- Arrow:  release, scheduled -> created, for the held jobs whose type is not paused (any more). One that waits for a running
--         job is due instead, and stays scheduled: the clock looks whether that has ended.
-- Who:    the operator who resumes a type; the clock, for a job that was submitted while its type was being resumed.
-- Locks:  the rows; it skips locked rows until the clock's next pass. Index: jobs_due.
WITH released AS (
    UPDATE jobs j
    SET status = CASE WHEN held.waits THEN 'scheduled' ELSE 'created' END,
        ready_at = CASE WHEN NOT held.waits THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END,
        due_at = CASE WHEN held.waits THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END
    FROM (
        SELECT d.id, d.behind IS NOT NULL AS waits FROM jobs d
        WHERE d.due_at = %(held_until)s  -- guard
          AND (d.source_type, d.source_method) NOT IN (SELECT source_type, source_method FROM paused_job_types)  -- guard
        ORDER BY d.id
        FOR NO KEY UPDATE OF d SKIP LOCKED
    ) held
    WHERE j.id = held.id
    RETURNING j.id, j.attempt, j.tenant_id, j.queue_id, j.priority, j.status
),
arriving AS (SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM released WHERE status = 'created')
-- include shared/arrive
SELECT id, attempt, tenant_id FROM released WHERE status = 'created'
