-- Reads:  running attempts whose worker is gone. Who: recover. Locks: none; take_back is fenced.
-- Index:  jobs_one_job_per_slot: it reads only jobs that hold a slot.
-- A worker may start a job before its first beat arrives: an unknown worker counts as gone only after `unknown_for` seconds.
SELECT j.id, j.attempt, j.worker, w.name
FROM jobs j
CROSS JOIN (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now) clock
LEFT JOIN workers w ON w.id = j.worker
WHERE j.slot IS NOT NULL
  AND j.status = 'running'
  AND CASE WHEN w.id IS NULL THEN j.start_time < clock.now - %(unknown_for)s * interval '1 second'
           ELSE w.gone_at IS NOT NULL END  -- guard I3
