-- Reads:  the seconds that processes worked for each tenant and queue in the last so many seconds: in attempts that ended,
--         and in those that still run. Who: the recorder, for its sample. Locks: none.
-- Index:  attempts_ended; jobs_one_job_per_slot.
WITH
-- include shared/clock
span AS (SELECT clock.now - %(seconds)s * interval '1 second' AS since, clock.now AS until FROM clock),
worked AS (
    SELECT a.tenant_id, a.queue_id, least(a.ended_at, span.until) - greatest(a.start_time, span.since) AS time
    FROM attempts a CROSS JOIN span
    WHERE a.ended_at > span.since
      AND a.start_time < span.until
    UNION ALL
    SELECT j.tenant_id, j.queue_id, span.until - greatest(j.start_time, span.since)
    FROM jobs j CROSS JOIN span
    WHERE j.slot IS NOT NULL AND j.status = 'running'  -- guard
)
SELECT tenant_id, queue_id, extract(epoch FROM sum(greatest(time, interval '0')))::float8
FROM worked GROUP BY tenant_id, queue_id
