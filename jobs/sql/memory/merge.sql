-- Change: set some values of a memory, and leave its others. No row: this attempt does not run.
-- Who:    a body, in its own transaction. Locks: the memory, until that ends; not the job. Index: job_memories_once.
WITH
-- include shared/remembering
merged AS (
    INSERT INTO job_memories AS m (tenant_id, source_type, source_method, source_id, content, touched_at)
    SELECT tenant_id, source_type, source_method, source_id, %(values)s::jsonb, clock_timestamp() FROM remembering
    ON CONFLICT (tenant_id, source_type, source_method, source_id) DO UPDATE
    SET content = m.content || excluded.content, touched_at = excluded.touched_at
)
SELECT true FROM remembering
