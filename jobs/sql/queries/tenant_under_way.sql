-- Reads:  the jobs of a tenant that wait (blocked, scheduled, created) and that hold a slot, by queue and job type; of each queue,
--         and of the scheduled and the blocked ones, at most `most`. Who: the tenant, and operators. Locks: none.
-- Index:  jobs_claim in each queue, jobs_scheduled_of_tenant, jobs_blocked_of_tenant, jobs_one_job_per_slot.
SELECT q.name AS queue, j.source_type, j.source_method,
       count(*) FILTER (WHERE NOT j.holds) AS waiting, count(*) FILTER (WHERE j.holds) AS running
FROM (
    SELECT ready.* FROM queues line CROSS JOIN LATERAL (
        SELECT queue_id, source_type, source_method, false AS holds FROM jobs
        WHERE ready_at IS NOT NULL AND queue_id = line.id
          AND tenant_id = %(tenant_id)s  -- guard I8
        ORDER BY priority, id
        LIMIT %(most)s
    ) ready
    UNION ALL
    (
        SELECT queue_id, source_type, source_method, false FROM jobs
        WHERE due_at IS NOT NULL
          AND tenant_id = %(tenant_id)s  -- guard I8
        LIMIT %(most)s
    )
    UNION ALL
    (
        SELECT queue_id, source_type, source_method, false FROM jobs
        WHERE blocked_at IS NOT NULL
          AND tenant_id = %(tenant_id)s  -- guard I8
        LIMIT %(most)s
    )
    UNION ALL
    SELECT queue_id, source_type, source_method, true FROM jobs
    WHERE slot IS NOT NULL
      AND tenant_id = %(tenant_id)s  -- guard I8
) j
JOIN queues q ON q.id = j.queue_id
GROUP BY q.name, j.source_type, j.source_method
