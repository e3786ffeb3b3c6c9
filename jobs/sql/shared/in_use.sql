-- Every job that holds a slot, and the time that it has worked. Index: jobs_in_use, by the door's memory of tickets, so that
-- the cost depends on the slots in use, not on earlier ones kept by an old snapshot (see jobs.models.Door).
-- ORDER BY and BETWEEN choose the index by its order, not by an estimate of the number of rows.
memory AS MATERIALIZED (
    SELECT d.ctid AS row, coalesce(d.horizon, 0) AS horizon, coalesce(d.survivors, '{}') AS survivors
    FROM (SELECT) always LEFT JOIN LATERAL (
        SELECT ctid, horizon, survivors FROM door ORDER BY version DESC LIMIT 1
    ) d ON true
),
in_use AS MATERIALIZED (
    SELECT
        j.tenant_id, j.queue_id, j.user_key, j.slot, j.ticket, j.worker, q.pool,
        worked(
            j.start_time, clock.now, coalesce(j.timeout, q.default_timeout, %(default_timeout)s) + %(overtime)s
        ) AS seconds
    FROM (
        SELECT j.* FROM memory CROSS JOIN LATERAL (
            SELECT tenant_id, queue_id, user_key, slot, ticket, worker, start_time, timeout FROM jobs
            WHERE slot IS NOT NULL AND ticket > memory.horizon
            ORDER BY ticket
        ) j
        UNION ALL
        SELECT j.* FROM memory CROSS JOIN unnest(memory.survivors) AS survivor (ticket) CROSS JOIN LATERAL (
            SELECT tenant_id, queue_id, user_key, slot, ticket, worker, start_time, timeout FROM jobs
            WHERE slot IS NOT NULL AND ticket BETWEEN survivor.ticket AND survivor.ticket
            ORDER BY ticket
        ) j
    ) j
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT pool, default_timeout FROM queues WHERE id BETWEEN j.queue_id AND j.queue_id ORDER BY id LIMIT 1
    ) q
),
