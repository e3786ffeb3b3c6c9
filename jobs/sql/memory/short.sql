-- A statement with `remembering` runs for a body, in the body's transaction. No row: this attempt does not run.
-- Locks:  the memory, until that transaction ends; not the job. Index: job_memories_once.

-- name: clear
-- Change: delete a memory.
WITH
-- include shared/remembering
cleared AS (
    DELETE FROM job_memories m USING remembering r
    WHERE (m.tenant_id, m.source_type, m.source_method, m.source_id)
        = (r.tenant_id, r.source_type, r.source_method, r.source_id)
)
SELECT true FROM remembering

-- name: merge
-- Change: set some values of a memory, and leave its others.
WITH
-- include shared/remembering
merged AS (
    INSERT INTO job_memories AS m (tenant_id, source_type, source_method, source_id, content, touched_at)
    SELECT tenant_id, source_type, source_method, source_id, %(values)s::jsonb, clock_timestamp() FROM remembering
    ON CONFLICT (tenant_id, source_type, source_method, source_id) DO UPDATE
    SET content = m.content || excluded.content, touched_at = excluded.touched_at
)
SELECT true FROM remembering

-- name: recall
-- Reads:  the content of a memory; null if there is none.
-- Locks:  none.
WITH
-- include shared/remembering
found AS (
    SELECT m.content::text AS content FROM job_memories m
    JOIN remembering r USING (tenant_id, source_type, source_method, source_id)
)
SELECT (SELECT content FROM found) FROM remembering

-- name: remove
-- Change: remove some values of a memory.
WITH
-- include shared/remembering
removed AS (
    UPDATE job_memories m
    SET content = m.content - %(keys)s::text[], touched_at = clock_timestamp()
    FROM remembering r
    WHERE (m.tenant_id, m.source_type, m.source_method, m.source_id)
        = (r.tenant_id, r.source_type, r.source_method, r.source_id)
)
SELECT true FROM remembering
