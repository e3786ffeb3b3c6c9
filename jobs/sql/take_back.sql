-- Arrow:  take_back, queued / running -> created; or bury, -> dead, when it has crashed too often; or stop,
--         -> cancelled, when it was asked to. The crash is kept.
-- Who:    recover, for an attempt whose process or worker died; fenced: if it settled meanwhile, nothing happens.
--         Also when it is still queued: its process may have died with the start on its way, and the server may carry that
--         out after us. It would find the job as it expects it, and nobody would be there to run it.
--         The process is part of the fence (pid null: its whole worker is gone): a doubled message may have another
--         process die of the same attempt, while the job runs on in good health where it started.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
ended AS (
    UPDATE jobs
    SET status = CASE
            WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
            WHEN crashes + 1 < %(max_crashes)s THEN 'created'
            ELSE 'dead'
        END,
        ready_at = CASE WHEN cancel_requested_at IS NULL AND crashes + 1 < %(max_crashes)s THEN clock.now END,
        end_time = CASE WHEN cancel_requested_at IS NOT NULL OR crashes + 1 >= %(max_crashes)s THEN clock.now END,
        died_at = CASE WHEN cancel_requested_at IS NULL AND crashes + 1 >= %(max_crashes)s THEN clock.now END,
        slot = NULL,
        crashes = crashes + 1,
        last_error = %(error_class)s || ': ' || %(error)s
    FROM clock
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status IN ('queued', 'running')  -- guard I3
      AND (%(pid)s::int IS NULL OR status = 'queued' OR (worker = %(worker)s AND worker_pid = %(pid)s))  -- guard I3
    RETURNING id, attempt, status, tenant_id, queue_id, priority, timeout, worker, queued_at, start_time,
        clock.now AS ended_at, extract(epoch FROM clock.now - start_time)::float8 AS seconds,
        0 AS followed
),
arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 1 AS jobs FROM ended WHERE status = 'created'
)
-- include shared/arrive
-- include shared/failed_attempt
-- include shared/freed
SELECT id, attempt, status FROM ended
