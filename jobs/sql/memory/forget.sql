-- Change: delete the memories of a tenant: all, or those of one source type, or of one job type, or one.
-- Who:    its tenant, or an operator. Locks: the memories; it waits for bodies that are writing them.
-- Index:  job_memories_once; primary key for one.
DELETE FROM job_memories
WHERE tenant_id = %(tenant_id)s  -- guard I8
  AND source_type = coalesce(%(source_type)s::text, source_type)  -- guard
  AND source_method = coalesce(%(source_method)s::text, source_method)  -- guard
  AND id = coalesce(%(memory_id)s::bigint, id)  -- guard
RETURNING id
