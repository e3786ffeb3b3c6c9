-- Arrow:  take_back, queued / running -> scheduled, due after a pause that doubles with each crash in a row; or bury,
--         running -> dead, if it has crashed too often; or stop, running -> cancelled, if that was requested, or a newer call has replaced it. The crash
--         is kept.
-- Who:    recover, for an attempt whose process or worker died; fenced: if it settled meanwhile, nothing happens.
--         This includes a queued attempt: its process may have died after sending the start, and the server may execute
--         that start later. It would succeed, with no process to run the job. That is not a crash, since no body has run.
--         The first `forgiven` failures of this class of a job are no crashes, either: its worker was stopped.
--         The process is part of the fence (pid null: the whole worker is gone): a duplicate message may let another
--         process die during the same attempt, while the job still runs where it started.
-- Locks:  the row; if another transaction has locked it, nothing happens, and the caller tries again. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (
    SELECT id, slot,
        crashes + (status = 'running' AND NOT forgiven)::int AS crashes,
        CASE
            WHEN status = 'queued' THEN 'scheduled'
            WHEN cancel_requested_at IS NOT NULL OR replaced_by IS NOT NULL THEN 'cancelled'
            WHEN crashes + 1 >= %(max_crashes)s AND NOT forgiven THEN 'dead'
            ELSE 'scheduled'
        END AS status,
        CASE WHEN forgiven THEN 'stopped' ELSE 'crash' END AS outcome
    FROM jobs j
    CROSS JOIN LATERAL (
        SELECT count(*) < %(forgiven)s AS forgiven FROM failed_attempts f
        WHERE f.job_id = j.id
          AND f.error_class = %(error_class)s  -- guard
    ) stops
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status IN ('queued', 'running')  -- guard I3
      AND (%(pid)s::int IS NULL OR status = 'queued' OR (
          -- include shared/held_by
      ))  -- guard I3
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
ended AS (
    UPDATE jobs
    SET status = before.status,
        due_at = CASE WHEN before.status = 'scheduled' THEN
            clock.now + least(power(2, least(greatest(before.crashes - 1, 0), 12)), 3600) * interval '1 second'
        END,
        end_time = CASE WHEN before.status <> 'scheduled' THEN clock.now END,
        died_at = CASE WHEN before.status = 'dead' THEN clock.now END,
        reason = CASE WHEN before.status = 'cancelled' THEN 'replaced by ' || replaced_by END,
        slot = NULL,
        crashes = before.crashes,
        last_error = %(error_class)s || ': ' || %(error)s,
        error_key = CASE WHEN before.status = 'dead' THEN %(error_key)s::bigint END
    FROM clock CROSS JOIN before
    WHERE jobs.id = before.id
    RETURNING
        -- include shared/ended
        , queue_id, jobs.status, CASE jobs.status WHEN 'scheduled' THEN before.outcome ELSE jobs.status END AS outcome,
        coalesce(extract(epoch FROM clock.now - start_time), 0)::float8 AS seconds, followed,
        start_time IS NOT NULL AS lost
),
arriving AS (
    SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended WHERE status = 'scheduled'
)
-- include shared/arrive
-- include shared/failed_attempt
-- include shared/freed
, logged AS (
    -- include shared/attempt
    FROM ended
    WHERE start_time IS NOT NULL  -- guard
)
SELECT id, tenant_id, source_type || '.' || source_method AS type, status, lost FROM ended
