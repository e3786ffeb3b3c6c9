-- Arrow:  put_off, queued -> scheduled, held: its job type was paused after it was handed over.
-- Who:    the worker process that received the message, fenced. Locks: the row. Index: primary key.
WITH before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    UPDATE jobs j
    SET status = 'scheduled', slot = NULL, due_at = %(held_until)s
    FROM before
    WHERE id = %(id)s
      AND attempt = %(attempt)s  -- guard I3
      AND status = 'queued'  -- guard I3
      AND EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
    RETURNING
        id, attempt, tenant_id, queue_id, user_key, before.slot, ticket, timeout, 0::float8 AS seconds, 0 AS followed, false AS lost
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, 1 AS jobs FROM ended)
-- include shared/arrive
-- include shared/freed
SELECT tenant_id FROM ended
