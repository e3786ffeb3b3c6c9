-- The pools with an idle process: fewer jobs run on their live workers than these have processes. Index: the one of slots.
idle_pool AS MATERIALIZED (
    SELECT p.pool FROM live_pool p
    CROSS JOIN LATERAL (
        SELECT count(*) AS processes FROM jobs j JOIN live_worker w ON w.id = j.worker
        WHERE j.slot IS NOT NULL AND j.status = 'running' AND w.pool = p.pool
    ) busy
    WHERE p.processes > busy.processes  -- guard
),
