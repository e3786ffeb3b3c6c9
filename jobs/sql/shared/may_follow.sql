-- The gates of the jobs that may follow in the slots of lane `e` at `clock` without a door, since no count changes: its queue `q`,
-- its tenant and its worker; and its head, as the door knows it. None follows while a job holds the lane or the queue, from the
-- commit on that says so until the door opens the lane, or the clock the queue. Lanes with further limits (a rate, a queue's concurrency,
-- slots per user), or that hold more slots than they may, need the door: they have no row here. The statement compares the slots, the pool and the job itself.
CROSS JOIN LATERAL (
    SELECT name, pool, default_timeout, default_max_retries, default_backoff, backoff_grows, tenant_slots FROM queues
    WHERE id BETWEEN e.queue_id AND e.queue_id
      AND NOT paused  -- guard
      AND concurrency IS NULL  -- guard I1
      AND rate_limit IS NULL  -- guard
    ORDER BY id
    LIMIT 1
) q
CROSS JOIN LATERAL (
    SELECT num_slots, queue_slots FROM tenant_queues
    WHERE tenant_id BETWEEN e.tenant_id AND e.tenant_id
      AND NOT paused  -- guard
      AND user_slots IS NULL  -- guard I1
      AND rate_limit IS NULL  -- guard
    ORDER BY tenant_id
    LIMIT 1
) tenant
CROSS JOIN LATERAL (
    SELECT pool FROM workers
    WHERE id BETWEEN %(worker)s::uuid AND %(worker)s::uuid
      AND gone_at IS NULL  -- guard I3
      AND concurrency > 0  -- guard
    ORDER BY id
    LIMIT 1
) worker
CROSS JOIN LATERAL (
    SELECT head, CASE WHEN state IN ('closed', 'full') THEN clock.now ELSE opened_at END AS opened_at
    FROM (
        SELECT head, state, opened_at, in_use FROM lanes
        WHERE tenant_id = e.tenant_id AND queue_id = e.queue_id
        ORDER BY version DESC
        LIMIT 1
    ) newest
    WHERE in_use <= coalesce((tenant.queue_slots -> q.name)::int, q.tenant_slots, in_use)  -- guard I1
      AND state <> 'held'  -- guard
      AND NOT EXISTS (SELECT FROM holds h WHERE h.queue_id = e.queue_id AND h.tenant_id IN (0, e.tenant_id))  -- guard
) lane
