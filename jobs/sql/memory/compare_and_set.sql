-- Change: set a value of a memory if it is the expected one; null expects none. Returns whether it was.
--         No row: this attempt does not run. The loser of a race waits for the winner, and then compares with its value.
-- Who:    a body, in its own transaction. Locks: the memory, until that ends; not the job. Index: job_memories_once.
WITH
-- include shared/remembering
changed AS (
    UPDATE job_memories m
    SET content = m.content || jsonb_build_object(%(key)s::text, %(new)s::jsonb), touched_at = clock_timestamp()
    FROM remembering r
    WHERE (m.tenant_id, m.source_type, m.source_method, m.source_id)
        = (r.tenant_id, r.source_type, r.source_method, r.source_id)
      AND m.content -> %(key)s::text = %(expected)s::jsonb  -- guard
    RETURNING m.id
),
added AS (
    INSERT INTO job_memories AS m (tenant_id, source_type, source_method, source_id, content, touched_at)
    SELECT
        tenant_id, source_type, source_method, source_id,
        jsonb_build_object(%(key)s::text, %(new)s::jsonb), clock_timestamp()
    FROM remembering
    WHERE %(expected)s::jsonb IS NULL  -- guard
    ON CONFLICT (tenant_id, source_type, source_method, source_id) DO UPDATE
    SET content = m.content || excluded.content, touched_at = excluded.touched_at
    WHERE NOT m.content ? %(key)s::text  -- guard
    RETURNING m.id
)
SELECT EXISTS (SELECT FROM changed) OR EXISTS (SELECT FROM added) FROM remembering
