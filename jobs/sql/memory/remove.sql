-- Change: remove some values of a memory. No row: this attempt does not run.
-- Who:    a body, in its own transaction. Locks: the memory, until that ends; not the job. Index: job_memories_once.
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
