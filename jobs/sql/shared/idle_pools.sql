-- The pools with an idle process: their live workers run fewer jobs than they have processes. Index: jobs_one_job_per_slot.
idle_pool AS MATERIALIZED (
    SELECT p.pool FROM live_pool p
    CROSS JOIN LATERAL (
        SELECT count(*) AS processes FROM jobs j JOIN present_worker w ON w.id = j.worker
        WHERE w.live AND j.slot IS NOT NULL AND j.status = 'running' AND w.pool = p.pool
    ) busy
    WHERE p.processes > busy.processes  -- guard
),
