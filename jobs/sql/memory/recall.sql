-- Reads:  the content of a memory; null if there is none. No row: this attempt does not run.
-- Who:    a body. Index: job_memories_once.
WITH
-- include shared/remembering
found AS (
    SELECT m.content::text AS content FROM job_memories m
    JOIN remembering r USING (tenant_id, source_type, source_method, source_id)
)
SELECT (SELECT content FROM found) FROM remembering
