-- name: open_line
-- Change: end the holds of a lane, or of a queue (tenant 0), now. The jobs that hold it are due now: the clock promotes these,
--         ends the holds, and the next fold opens the line. Not an arrow. Returns how many holds ended, and one that did.
-- Who:    an operator. Locks: the rows, until the caller's transaction ends; the clock skips them, and this skips jobs that others
--         have locked. Index: primary keys.
WITH
-- include shared/clock
ended AS (
    UPDATE holds SET until = clock.now
    FROM clock
    WHERE queue_id = %(queue_id)s AND tenant_id = %(tenant_id)s
      AND until > clock.now  -- guard
    RETURNING job_id, holds.attempt, owner_id
),
first AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN ended ON ended.job_id = j.id AND ended.attempt = j.attempt
    WHERE j.due_at < %(held_until)s::timestamptz  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
hastened AS (
    UPDATE jobs SET due_at = least(due_at, clock.now) FROM first CROSS JOIN clock WHERE jobs.id = first.id RETURNING jobs.id
)
SELECT
    (SELECT count(*) FROM ended) AS holds,
    (SELECT count(pg_notify('jobs_due', '')) FROM ended WHERE pg_notification_queue_usage() < 0.9) AS woken,
    (SELECT count(*) FROM hastened) AS jobs
