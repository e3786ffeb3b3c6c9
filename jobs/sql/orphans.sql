-- Reads:  running attempts whose worker is gone. Who: recover. Locks: none; take_back is fenced.
-- Index:  jobs_one_job_per_slot: only jobs that hold a slot are looked at.
SELECT j.id, j.attempt, coalesce(w.name, 'unknown') AS worker
FROM jobs j
LEFT JOIN workers w ON w.id = j.worker
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND (w.id IS NULL OR w.gone_at IS NOT NULL)  -- guard I3
