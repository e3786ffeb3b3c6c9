-- Whether a queued job `j` of queue `q` starts: not always. A worker that was declared gone starts no job:
-- recover would take it back at once. A job does not start if its tenant was deleted while it was claimed, or if its time to
-- start has passed, by PostgreSQL's clock; nor if its type is paused, or a budget that it spends is used up.
q.id = j.queue_id
  AND j.status = 'queued'  -- guard I3
  AND (j.expires_at IS NULL OR j.expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()))  -- guard
  AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.source_type = j.source_type AND p.source_method = j.source_method)  -- guard
  AND NOT (
      -- include shared/spent
  )  -- guard
  AND EXISTS (SELECT FROM tenants_tenant t WHERE t.id = j.tenant_id)  -- guard
  AND NOT EXISTS (SELECT FROM workers w WHERE w.id = %(worker)s AND w.gone_at IS NOT NULL)  -- guard I3
