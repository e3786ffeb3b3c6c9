-- Reads:  the attempts of a dead process: those that run in it, and that of its message, if it is still queued. Who: its
--         parent. Index: jobs_one_job_per_slot; primary key.
-- Locks:  none that last: it tests whether the row is free; if it is not, the caller tries again.
WITH left_over AS MATERIALIZED (
    SELECT id, attempt FROM jobs
    WHERE slot IS NOT NULL AND status = 'running' AND worker = %(worker)s AND worker_pid = %(pid)s  -- guard I3
    UNION ALL
    SELECT id, attempt FROM jobs
    WHERE id = %(id)s AND attempt = %(attempt)s AND status = 'queued'  -- guard I3
),
free AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN left_over USING (id) FOR NO KEY UPDATE OF j SKIP LOCKED
)
SELECT l.id, l.attempt, free.id IS NOT NULL AS free FROM left_over l LEFT JOIN free USING (id)
