-- Change: delete a memory. No row: this attempt does not run.
-- Who:    a body, in its own transaction. Locks: the memory, until that ends; not the job. Index: job_memories_once.
WITH
-- include shared/remembering
cleared AS (
    DELETE FROM job_memories m USING remembering r
    WHERE (m.tenant_id, m.source_type, m.source_method, m.source_id)
        = (r.tenant_id, r.source_type, r.source_method, r.source_id)
)
SELECT true FROM remembering
