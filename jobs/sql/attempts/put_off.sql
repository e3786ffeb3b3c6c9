-- Arrow:  put_off, queued -> scheduled, held: its job type was paused, or a budget was used up, after it was handed over; or, for a suspect that would wait
--         too long for a process alone (`suspect`), due after 2, 4, 8 ... 60 seconds.
-- Who:    the worker process that received the message, or the feeder of a light pool; fenced. Locks: the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs j
    SET status = 'scheduled',
        slot = NULL,
        due_at = CASE WHEN %(suspect)s THEN clock.now + least(power(2, least(attempt - 3, 6)), 60) * interval '1 second' ELSE %(held_until)s END
    FROM clock CROSS JOIN before
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'queued'  -- guard I3
      AND CASE WHEN %(suspect)s THEN
          -- include shared/suspect
          ELSE EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method) OR
          -- include shared/spent
      END  -- guard
    RETURNING
        id, attempt, tenant_id, queue_id, user_key, before.slot, ticket, timeout, 0::float8 AS seconds, 0 AS followed, false AS lost,
        clock.now AS ended_at, NULL::jsonb AS units
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
-- include shared/freed
SELECT tenant_id FROM ended
