-- Arrow:  claim, created -> queued: takes a slot of the tenant, attempt + 1.
-- Who:    a dispatch, inside the door; elsewhere it claims nothing. Its snapshot is younger than the door's lock, so that
--         the slots it counts are all there are (I1).
-- Locks:  the claimed rows only. A row that somebody else has locked is not waited for: it is returned without an attempt,
--         and passed over by the passes that follow, so that a transaction left open holds up its own job alone.
-- Index:  jobs_claim, walked lane by lane (a loose index scan: one probe for each tenant and user with jobs waiting, however
--         many jobs they have); jobs_one_job_per_slot for what is held. Never a scan of the waiting jobs (I9).
-- Rates:  a token bucket (the generic cell rate algorithm, ITU-T I.371) of `rate_limit` tokens that refills evenly over
--         `rate_window` seconds, kept as the moment when it will be full. So at most rate_limit jobs start at once, and over
--         any t seconds at most rate_limit * (1 + t / rate_window). Half a microsecond is forgiven: moments are rounded to
--         whole ones. What would be full only after two windows was spent under a slower limit, and begins anew.
-- Each limit cuts what the one before it left, so a pass claims at least one job if any may be claimed, but perhaps not
-- all: `more` then says that another pass may find a place for somebody.
-- Followers: explain.sql (what is free) and explain_line.sql (the order) repeat its formulas; change them with it.
WITH RECURSIVE
clock AS MATERIALIZED (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS now),

-- 1. What is held, and what is free -----------------------------------------------------------------------
held AS MATERIALIZED (
    SELECT tenant_id, queue_id, user_key, slot, queued_at FROM jobs WHERE slot IS NOT NULL
),
held_by_tenant AS (
    SELECT tenant_id, count(*) AS n, sum(greatest(extract(epoch FROM clock.now - queued_at), 0)) AS seconds
    FROM held CROSS JOIN clock GROUP BY tenant_id
),
held_by_user AS (SELECT tenant_id, user_key, count(*) AS n FROM held GROUP BY tenant_id, user_key),
held_by_queue AS (SELECT queue_id, count(*) AS n FROM held GROUP BY queue_id),
held_by_pool AS (
    SELECT q.pool, sum(h.n) AS n FROM held_by_queue h JOIN queues q ON q.id = h.queue_id GROUP BY q.pool
),
pool AS MATERIALIZED (
    SELECT w.pool, sum(w.concurrency) + %(headroom)s - coalesce(max(h.n), 0) AS free
    FROM workers w
    CROSS JOIN clock
    LEFT JOIN held_by_pool h ON h.pool = w.pool
    WHERE w.gone_at IS NULL
      AND w.beat_at > clock.now - %(live_for)s * interval '1 second'  -- guard
    GROUP BY w.pool
    HAVING sum(w.concurrency) > 0  -- a draining worker has none, and no use for head-room
),
open_queue AS MATERIALIZED (
    SELECT
        q.id, q.pool, q.weight, q.default_timeout,
        q.rate_window / q.rate_limit AS refill, spent.full_at,
        pool.free AS pool_free,
        least(pool.free, q.concurrency - coalesce(h.n, 0), bucket.tokens) AS free  -- a limit that is null is ignored
    FROM queues q
    CROSS JOIN clock
    JOIN pool ON pool.pool = q.pool
    LEFT JOIN held_by_queue h ON h.queue_id = q.id
    LEFT JOIN queue_turns t ON t.queue_id = q.id
    CROSS JOIN LATERAL (
        SELECT CASE WHEN extract(epoch FROM t.full_at - clock.now) < 2 * q.rate_window THEN t.full_at END AS full_at
    ) spent
    CROSS JOIN LATERAL (
        SELECT floor(
            q.rate_limit
            - greatest(coalesce(extract(epoch FROM spent.full_at - clock.now) - 0.0000005, 0), 0)
            * q.rate_limit / q.rate_window
        ) AS tokens
    ) bucket
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
      AND NOT q.paused  -- guard
      AND pool.free > 0
      AND (q.concurrency IS NULL OR q.concurrency > coalesce(h.n, 0))
      AND (q.rate_limit IS NULL OR bucket.tokens >= 1)
),

-- 2. The lanes that may be served: walk the tenants of each open queue, then the users of each open lane ----------
-- BETWEEN, not =: with the queue a constant, jobs_of_tenant would give the same order, and the planner liked to walk a
-- million jobs of one tenant there.
lane AS MATERIALIZED (
    SELECT
        q.id AS queue_id, t.tenant_id,
        tq.weight, tq.num_slots, tq.user_slots,
        coalesce(h.n, 0) AS tenant_held,
        tq.rate_window / tq.rate_limit AS tenant_refill, spent.full_at AS tenant_full_at,
        least(tq.num_slots - coalesce(h.n, 0), bucket.tokens) AS tenant_free,
        least(q.free, tq.num_slots - coalesce(h.n, 0), bucket.tokens) AS free
    FROM open_queue q
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        WITH RECURSIVE walk AS (
            (SELECT tenant_id FROM jobs
             WHERE ready_at IS NOT NULL AND queue_id BETWEEN q.id AND q.id
             ORDER BY queue_id, tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT j.tenant_id FROM jobs j
                    WHERE j.ready_at IS NOT NULL
                      AND (j.queue_id, j.tenant_id) > (q.id, walk.tenant_id) AND j.queue_id <= q.id
                    ORDER BY j.queue_id, j.tenant_id LIMIT 1)
            FROM walk WHERE walk.tenant_id IS NOT NULL
        )
        SELECT tenant_id FROM walk WHERE tenant_id IS NOT NULL
    ) t
    JOIN tenant_queues tq ON tq.tenant_id = t.tenant_id
    LEFT JOIN held_by_tenant h ON h.tenant_id = t.tenant_id
    LEFT JOIN tenant_turns turn ON turn.tenant_id = t.tenant_id
    CROSS JOIN LATERAL (
        SELECT CASE WHEN extract(epoch FROM turn.full_at - clock.now) < 2 * tq.rate_window THEN turn.full_at END AS full_at
    ) spent
    CROSS JOIN LATERAL (
        SELECT floor(
            tq.rate_limit
            - greatest(coalesce(extract(epoch FROM spent.full_at - clock.now) - 0.0000005, 0), 0)
            * tq.rate_limit / tq.rate_window
        ) AS tokens
    ) bucket
    WHERE NOT tq.paused  -- guard
      AND tq.num_slots > coalesce(h.n, 0)
      AND (tq.rate_limit IS NULL OR bucket.tokens >= 1)
),
line AS MATERIALIZED (
    SELECT
        lane.*, u.user_key,
        CASE WHEN u.user_key <> '' THEN lane.user_slots - coalesce(h.n, 0) END AS user_free  -- null: no limit
    FROM lane
    CROSS JOIN LATERAL (
        WITH RECURSIVE walk AS (
            (SELECT user_key FROM jobs
             WHERE ready_at IS NOT NULL AND queue_id = lane.queue_id AND tenant_id = lane.tenant_id
             ORDER BY user_key LIMIT 1)
            UNION ALL
            SELECT (SELECT j.user_key FROM jobs j
                    WHERE j.ready_at IS NOT NULL AND j.queue_id = lane.queue_id AND j.tenant_id = lane.tenant_id
                      AND j.user_key > walk.user_key
                    ORDER BY j.user_key LIMIT 1)
            FROM walk WHERE walk.user_key IS NOT NULL
        )
        SELECT user_key FROM walk WHERE user_key IS NOT NULL
    ) u
    LEFT JOIN held_by_user h ON h.tenant_id = lane.tenant_id AND h.user_key = u.user_key
),
candidate AS MATERIALIZED (
    SELECT line.*, j.id, j.priority, j.ready_at
    FROM line
    CROSS JOIN LATERAL (
        SELECT id, priority, ready_at FROM jobs
        WHERE ready_at IS NOT NULL
          AND queue_id = line.queue_id AND tenant_id = line.tenant_id AND user_key = line.user_key
          AND id <> ALL(%(passed_over)s::bigint[])  -- guard I2
        ORDER BY priority, id
        LIMIT greatest(least(line.free, line.user_free), 0)
    ) j
),

-- 3. Whose turn it is -----------------------------------------------------------------------------------------
-- Within a lane: priority, then submission (I6).
-- Between tenants: who has used least, virtual time + 10 s * (slots held + rank) / weight; ties to the longest wait. A
-- tenant's virtual time is the seconds for which it has held slots, divided by its weight: the second term shares the slots
-- of this moment, the first makes good over time what whole slots cannot share (one worker, ten tenants; weights 1 and 10).
-- Without it a flood of old jobs would win every tie (I7). A tenant that arrives, having neither held nor waited, starts at
-- the least virtual time of the others, not in its past.
-- Between queues: start-time fair queueing (Goyal, Vin, Cheng 1996): the r-th job of a queue starts at
-- virtual time + (r - 1) / weight, the least goes first; a queue that comes back starts at its pool's present time, too.
contender AS MATERIALIZED (
    SELECT
        c.tenant_id,
        coalesce(t.virtual_time, 0) + coalesce(h.seconds, 0)::float8 / tq.weight AS virtual_time,
        h.n IS NULL AND coalesce(c.waits_since > t.seen_at, true) AS arrives
    FROM (
        SELECT tenant_id, min(waits_since) AS waits_since
        FROM (
            SELECT tenant_id, ready_at AS waits_since FROM candidate
            UNION ALL
            SELECT tenant_id, NULL FROM held_by_tenant
        ) all_of_them
        GROUP BY tenant_id
    ) c
    JOIN tenant_queues tq ON tq.tenant_id = c.tenant_id
    LEFT JOIN held_by_tenant h ON h.tenant_id = c.tenant_id
    LEFT JOIN tenant_turns t ON t.tenant_id = c.tenant_id
),
share AS MATERIALIZED (
    SELECT
        c.tenant_id,
        CASE WHEN c.arrives THEN greatest(c.virtual_time, others.virtual_time) ELSE c.virtual_time END AS virtual_time,
        c.arrives AND others.n > 1 AS arrives
    FROM contender c
    CROSS JOIN (
        SELECT
            count(*) AS n,
            coalesce(min(virtual_time) FILTER (WHERE NOT arrives), max(virtual_time)) AS virtual_time
        FROM contender
    ) others
),
ranked_in_lane AS (
    SELECT *, row_number() OVER (PARTITION BY queue_id, tenant_id ORDER BY priority, id) AS lane_rank
    FROM candidate
),
ranked_in_queue AS (
    SELECT r.*,
        row_number() OVER (
            PARTITION BY queue_id
            ORDER BY share.virtual_time + 10.0 * (tenant_held + lane_rank) / weight, ready_at, id
        ) AS queue_rank
    FROM ranked_in_lane r
    JOIN share ON share.tenant_id = r.tenant_id
),
present AS MATERIALIZED (
    SELECT q.pool, max(t.virtual_time - 1.0 / q.weight) AS virtual_time  -- the start of the last job served
    FROM queue_turns t JOIN queues q ON q.id = t.queue_id
    GROUP BY q.pool
),
turn AS MATERIALIZED (
    SELECT
        q.id AS queue_id, q.weight, q.refill, q.full_at,
        greatest(t.virtual_time, present.virtual_time, 0) AS virtual_time
    FROM open_queue q
    LEFT JOIN queue_turns t ON t.queue_id = q.id
    LEFT JOIN present ON present.pool = q.pool
),
ranked_in_pool AS (
    SELECT r.*, q.pool, q.pool_free, q.free AS queue_free, q.default_timeout,
        row_number() OVER (
            PARTITION BY q.pool
            ORDER BY turn.virtual_time + (r.queue_rank - 1.0) / turn.weight, turn.weight DESC, r.queue_id, r.queue_rank
        ) AS pool_rank
    FROM ranked_in_queue r
    JOIN open_queue q ON q.id = r.queue_id
    JOIN turn ON turn.queue_id = r.queue_id
),
-- Across pools a tenant's lines take turns, the longest wait first: the virtual times of two pools cannot be compared.
ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY tenant_id, pool ORDER BY pool_rank) AS tenant_rank
    FROM ranked_in_pool
),

-- 4. Cut at every limit (a rate limit is in `free`: what its bucket holds) ----------------------------------------
within_user AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY tenant_id, user_key ORDER BY tenant_rank, ready_at, id) AS nth_of_user
        FROM ranked
    ) r
    WHERE user_free IS NULL OR nth_of_user <= user_free  -- guard I1
),
within_tenant AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY tenant_rank, ready_at, id) AS nth_of_tenant
        FROM within_user
    ) r
    WHERE nth_of_tenant <= tenant_free  -- guard I1
),
within_queue AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY queue_id ORDER BY queue_rank) AS nth_of_queue
        FROM within_tenant
    ) r
    WHERE nth_of_queue <= queue_free  -- guard I1
),
chosen AS MATERIALIZED (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY pool ORDER BY pool_rank) AS nth_of_pool
        FROM within_queue
    ) r
    WHERE nth_of_pool <= pool_free  -- guard I1
),
pass AS MATERIALIZED (
    SELECT coalesce(bool_or(of_pool.candidates > of_pool.taken AND of_pool.taken < of_pool.pool_free), false) AS more
    FROM (
        SELECT r.pool, r.pool_free, count(*) AS candidates, count(c.id) AS taken
        FROM ranked r LEFT JOIN chosen c ON c.id = r.id
        GROUP BY r.pool, r.pool_free
    ) of_pool
),

-- 5. Take them: a slot number for each, and the queues' turns move on -------------------------------------------
locked AS (
    SELECT
        j.id, c.tenant_id, c.num_slots, c.tenant_refill, c.tenant_full_at, c.queue_id, c.pool, c.pool_rank,
        c.default_timeout, c.ready_at
    FROM chosen c
    JOIN jobs j ON j.id = c.id
    WHERE j.ready_at IS NOT NULL
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
numbered AS (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY pool_rank, id) AS nth FROM locked
),
free_slot AS (
    SELECT t.tenant_id, s.slot, row_number() OVER (PARTITION BY t.tenant_id ORDER BY s.slot) AS nth
    FROM (SELECT DISTINCT tenant_id, num_slots FROM locked) t
    CROSS JOIN LATERAL generate_series(1, t.num_slots) AS s (slot)
    WHERE NOT EXISTS (SELECT FROM held WHERE held.tenant_id = t.tenant_id AND held.slot = s.slot)
),
claimed AS (
    UPDATE jobs j
    SET status = 'queued',
        slot = f.slot,
        ready_at = NULL,
        attempt = attempt + 1,
        queued_at = clock.now,
        handed_at = clock.now,
        start_time = NULL,
        worker = NULL,
        worker_pid = NULL,
        progress = NULL,
        progress_note = ''
    FROM numbered n
    JOIN free_slot f ON f.tenant_id = n.tenant_id AND f.nth = n.nth
    CROSS JOIN clock
    WHERE j.id = n.id
    RETURNING
        j.id, j.attempt, j.memory, j.tenant_id, n.tenant_refill, n.tenant_full_at, n.queue_id, n.pool, n.pool_rank,
        coalesce(j.timeout, n.default_timeout, %(default_timeout)s) AS timeout,
        extract(epoch FROM clock.now - n.ready_at)::float8 AS waited
),
-- A queue that is served alone and without a rate limit needs no turn, and leaves no dead row behind.
competed AS (
    SELECT q.pool FROM candidate c JOIN open_queue q ON q.id = c.queue_id
    GROUP BY q.pool HAVING count(DISTINCT c.queue_id) > 1
),
moved_on AS (
    INSERT INTO queue_turns (queue_id, virtual_time, full_at)
    SELECT
        turn.queue_id,
        turn.virtual_time + count(*)::float8 / turn.weight,
        greatest(turn.full_at, clock.now) + count(*) * turn.refill * interval '1 second'
    FROM claimed JOIN turn USING (queue_id) CROSS JOIN clock
    WHERE claimed.pool IN (SELECT pool FROM competed) OR turn.refill IS NOT NULL
    GROUP BY turn.queue_id, turn.virtual_time, turn.weight, turn.full_at, turn.refill, clock.now
    ON CONFLICT (queue_id) DO UPDATE SET virtual_time = excluded.virtual_time, full_at = excluded.full_at
),
spent AS (
    SELECT c.tenant_id, greatest(c.tenant_full_at, clock.now) + count(*) * c.tenant_refill * interval '1 second' AS full_at
    FROM claimed c CROSS JOIN clock
    WHERE c.tenant_refill IS NOT NULL
    GROUP BY c.tenant_id, c.tenant_full_at, c.tenant_refill, clock.now
),
-- A tenant's turn is written when it arrives among others, and when it spends of a rate limit; else when it pays (charge).
tenants_moved_on AS (
    INSERT INTO tenant_turns AS t (tenant_id, virtual_time, seen_at, full_at)
    SELECT
        tenant_id,
        CASE WHEN share.arrives THEN share.virtual_time ELSE 0 END,
        CASE WHEN share.arrives THEN clock.now END,
        spent.full_at
    FROM share LEFT JOIN spent USING (tenant_id) CROSS JOIN clock
    WHERE share.arrives OR spent.full_at IS NOT NULL
    ON CONFLICT (tenant_id) DO UPDATE SET
        virtual_time = greatest(t.virtual_time, excluded.virtual_time),
        seen_at = coalesce(excluded.seen_at, t.seen_at),
        full_at = coalesce(excluded.full_at, t.full_at)
)
SELECT id, attempt, pool, timeout, memory, waited, more, limited
FROM (
    SELECT
        c.id, c.attempt, c.pool, c.timeout, c.memory, c.waited, pass.more,
        turn.refill IS NOT NULL OR c.tenant_refill IS NOT NULL AS limited, c.pool_rank
    FROM claimed c JOIN turn USING (queue_id) CROSS JOIN pass
    UNION ALL
    SELECT c.id, NULL, c.pool, NULL, NULL, NULL, pass.more, false, c.pool_rank
    FROM chosen c CROSS JOIN pass
    WHERE NOT EXISTS (SELECT FROM locked WHERE locked.id = c.id)
) outcome
ORDER BY pool, pool_rank
