-- Change: add to a number in a memory; a missing one is 0. Returns the sum as JSON; null if the value is no number.
--         No row: this attempt does not run. It adds in numeric, so 0.1 and 0.2 are 0.3.
-- Who:    a body, in its own transaction. Locks: the memory, until that ends; not the job. Index: job_memories_once.
WITH
-- include shared/remembering
added AS (
    INSERT INTO job_memories AS m (tenant_id, source_type, source_method, source_id, content, touched_at)
    SELECT
        tenant_id, source_type, source_method, source_id,
        jsonb_build_object(%(key)s::text, %(by)s::numeric), clock_timestamp()
    FROM remembering
    ON CONFLICT (tenant_id, source_type, source_method, source_id) DO UPDATE
    SET content = m.content || jsonb_build_object(
            %(key)s::text, coalesce((m.content ->> %(key)s::text)::numeric, 0) + %(by)s::numeric
        ),
        touched_at = excluded.touched_at
    WHERE coalesce(jsonb_typeof(m.content -> %(key)s::text), 'number') = 'number'  -- guard
    RETURNING m.content ->> %(key)s::text AS total
)
SELECT (SELECT total FROM added) FROM remembering
