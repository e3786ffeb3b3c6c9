-- Arrow:  take_back, queued / running -> scheduled, due after a pause that doubles with each crash in a row; or bury,
--         running -> dead, when it has crashed too often; or stop, running -> cancelled, when it was asked to. The crash
--         is kept.
-- Who:    recover, for an attempt whose process or worker died; fenced: if it settled meanwhile, nothing happens.
--         Also when it is still queued: its process may have died with the start on its way, and the server may carry that
--         out after us. It would find the job as it expects it, and nobody would be there to run it. That is no crash: no
--         body has run.
--         The process is part of the fence (pid null: its whole worker is gone): a doubled message may have another
--         process die of the same attempt, while the job runs on in good health where it started.
-- Locks:  the row; if somebody else has locked it, nothing happens, and the caller comes again. Index: primary key.
WITH
-- include shared/clock
held AS MATERIALIZED (
    SELECT id,
        crashes + (status = 'running')::int AS crashes,
        CASE
            WHEN status = 'queued' THEN 'scheduled'
            WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
            WHEN crashes + 1 >= %(max_crashes)s THEN 'dead'
            ELSE 'scheduled'
        END AS status
    FROM jobs
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status IN ('queued', 'running')  -- guard I3
      AND (%(pid)s::int IS NULL OR status = 'queued' OR (worker = %(worker)s AND worker_pid = %(pid)s))  -- guard I3
    FOR NO KEY UPDATE SKIP LOCKED
),
ended AS (
    UPDATE jobs
    SET status = held.status,
        due_at = CASE WHEN held.status = 'scheduled' THEN
            clock.now + least(power(2, least(greatest(held.crashes - 1, 0), 12)), 3600) * interval '1 second'
        END,
        end_time = CASE WHEN held.status <> 'scheduled' THEN clock.now END,
        died_at = CASE WHEN held.status = 'dead' THEN clock.now END,
        slot = NULL,
        crashes = held.crashes,
        last_error = %(error_class)s || ': ' || %(error)s
    FROM clock CROSS JOIN held
    WHERE jobs.id = held.id
    RETURNING jobs.id, attempt, jobs.status, tenant_id, queue_id, timeout, worker, queued_at, start_time,
        clock.now AS ended_at, extract(epoch FROM clock.now - start_time)::float8 AS seconds, 0 AS followed
),
arriving AS (
    SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended WHERE status = 'scheduled'
)
-- include shared/arrive
-- include shared/failed_attempt
-- include shared/freed
SELECT id, attempt, status FROM ended
