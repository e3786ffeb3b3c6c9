-- A queue of `turn` t in its pool p, as it is now. A null limit is ignored.
        t.id, t.name, t.pool, t.weight, t.default_max_retries, t.default_backoff, t.backoff_grows, t.concurrency, t.tenant_slots,
        t.paused, t.rate_limit, t.rate_window, t.row AS turn_row, t.state, t.opened_at, coalesce(t.in_use, 0) AS in_use,
        p.capacity AS pool_capacity, p.in_use AS pool_in_use, p.now AS pool_now, bucket.full_at,
        CASE WHEN t.rate_limit IS NOT NULL THEN rate_tokens(t.rate_limit, t.rate_window, bucket.full_at, clock.now) END AS tokens,
        t.virtual_time, coalesce(t.pool_time, 0) AS pool_time, coalesce(t.head, 0) AS head, t.circle_end, t.growth,
        t.lane_time + t.growth * passed.seconds AS lane_time,
        t.round_growth, t.round_least + t.round_growth * passed.seconds AS round_least, t.mean_seconds,
        CASE WHEN t.in_use > 0 THEN worked_since(t.in_use, t.tickets, clock.now) ELSE 0 END AS seconds
