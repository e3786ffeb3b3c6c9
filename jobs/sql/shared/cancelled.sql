-- Cancel the jobs of `before`, which wait or are queued: id, slot, whether an operator cancels (barred), and the reason (null:
-- its tenant or an operator asked for it). A queued job has kept a process from others: it is charged that time, but at most a
-- second, since brokers may be slow.
ended AS (
    UPDATE jobs
    SET status = 'cancelled',
        blocked_at = NULL,
        due_at = NULL,
        ready_at = NULL,
        slot = NULL,
        end_time = clock.now,
        barred = before.barred,
        reason = before.reason
    FROM clock CROSS JOIN before
    WHERE jobs.id = before.id
    RETURNING
        jobs.id, attempt, tenant_id, queue_id, user_key, timeout, before.slot, ticket, before.slot IS NULL AS was_waiting,
        CASE WHEN before.slot IS NOT NULL THEN worked(queued_at, clock.now, 1) END AS seconds, 0 AS followed,
        false AS lost, clock.now AS ended_at, NULL::jsonb AS units
),
arriving AS (SELECT queue_id, tenant_id, NULL::bigint AS place, -count(*)::int AS jobs FROM ended WHERE was_waiting GROUP BY queue_id, tenant_id)
-- include shared/arrive
-- include shared/freed
SELECT id, attempt, tenant_id FROM ended
