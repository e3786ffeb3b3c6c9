-- 3. Take: the order of turns (docs/adr/0005), cut at every limit; then the first unlocked jobs of each lane.
-- Within a lane: priority, then submission (I6). Between the lanes of a queue, and between the queues of a pool: the least
-- use first, which is virtual time + weight of one slot * (slots in use + rank) / weight. Virtual time is worker-seconds
-- divided by the weight: start-time fair queueing (Goyal, Vin, Cheng 1996). The second term shares the room of this
-- moment; the first evens out over time what whole jobs cannot share. Across pools a tenant's lanes take turns.
-- The lanes of a queue have a common time, which only increases: the least virtual time of the lanes that could be served,
-- taken when a round is complete. The same holds for the queues of a pool. No lane is further behind it than its credit,
-- so that a tenant that was paused, full, idle or new does not starve the others later. During a round, only lanes at most
-- a quantum ahead of that time are served: deficit round robin (Shreedhar, Varghese 1995). So not all need be visited. The
-- quantum follows the work, since no job is taken back. And the time of the lanes grows like the one of them whose running
-- jobs are fewest: otherwise they would all move out of the quantum together, while their jobs run.
-- In a pass that lends, a tenant may get more than its slots if no lane of anybody could be served within its own (docs/adr/0039).
tour AS MATERIALIZED (  -- of a queue, in this pass. whole: it visits the whole circle
    SELECT
        queue_id, bool_or(lane_row IS NULL) AS whole,
        NOT bool_or(bool_or(
            own_slots > 0 AND cardinality((front).places) > 0 OR passed_over OR nth = %(visits)s::int
        )) OVER () AS lends
    FROM visit WHERE turn > 0 GROUP BY queue_id
),
in_queue AS (
    SELECT
        v.queue_id, v.tenant_id, v.position, r.rank, CASE WHEN tour.lends THEN v.free ELSE least(v.free, v.own_slots) END AS free,
        row_number() OVER (
            PARTITION BY v.queue_id
            ORDER BY v.virtual_time + %(slot)s::float8 * (v.lane_in_use + r.rank - 1) / v.weight, v.weight DESC, v.position
        ) AS queue_rank
    FROM visit v
    JOIN tour ON tour.queue_id = v.queue_id
    CROSS JOIN LATERAL generate_series(1, least(cardinality((v.front).places), (v.front).startable)) AS r (rank)
    WHERE (tour.whole OR v.in_time) AND (v.own_slots > 0 OR tour.lends)
),
in_pool AS (
    SELECT c.*, q.pool, q.pool_free, q.weight, q.present + %(slot)s::float8 * (q.in_use + c.queue_rank - 1) / q.weight AS key
    FROM in_queue c JOIN asked q ON q.id = c.queue_id
    WHERE c.queue_rank <= q.room  -- guard I1
),
in_tenant AS (
    SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY turn, position, rank) AS nth_of_tenant
    FROM (
        SELECT *, row_number() OVER (PARTITION BY tenant_id, pool ORDER BY key, weight DESC, queue_id, queue_rank) AS turn
        FROM in_pool
    ) own
),
served AS MATERIALIZED (  -- the lanes, and the number of jobs to take from each
    SELECT queue_id, tenant_id, position, pool, count(*)::int AS n, min(pool_rank) AS pool_rank
    FROM (
        SELECT
            queue_id, tenant_id, position, pool, pool_free,
            row_number() OVER (PARTITION BY pool ORDER BY key, weight DESC, queue_id, queue_rank) AS pool_rank
        FROM in_tenant
        WHERE nth_of_tenant <= least(free, %(batch)s::int)  -- guard I1
    ) of_pool
    WHERE pool_rank <= pool_free  -- guard I1
    GROUP BY queue_id, tenant_id, position, pool
),
locked AS MATERIALIZED (
    SELECT
        v.queue_id, v.tenant_id, v.opened_at, v.tenant, v.book, v.left_slots, s.pool, s.pool_rank, j.*,
        coalesce(v.queue_rate, (v.tenant).rate_limit) IS NOT NULL AS limited,
        row_number() OVER (PARTITION BY v.tenant_id ORDER BY j.user_key, s.pool_rank, j.place) AS nth_of_tenant,
        row_number() OVER (PARTITION BY v.tenant_id, j.user_key ORDER BY s.pool_rank, j.place) AS nth_of_user
    FROM served s
    JOIN visit v ON v.queue_id = s.queue_id AND v.position = s.position
    CROSS JOIN LATERAL (
        SELECT w.place, j.row, j.ready_at, j.user_key
        FROM unnest((v.front).places) WITH ORDINALITY AS w (place, nth)
        CROSS JOIN LATERAL (
            SELECT j.ctid AS row, j.ready_at, j.user_key FROM jobs j
            WHERE j.id BETWEEN w.place & 288230376151711743 AND w.place & 288230376151711743
              AND j.ready_at IS NOT NULL  -- guard
            ORDER BY j.id
            LIMIT 1
            FOR NO KEY UPDATE SKIP LOCKED
        ) j
        LIMIT s.n
    ) j
),
claimed AS MATERIALIZED (
    UPDATE jobs j
    SET status = 'queued',
        -- So many numbers more than are in use contain so many free ones, and a tenant gets no more jobs in a pass. Another one
        -- is the first at each claim: while an old snapshot exists, the unique index must check all dead versions of jobs
        -- that held the same number.
        slot = (
            SELECT generate_series(lower(gap), upper(gap) - 1)
            FROM unnest(int4multirange(int4range(1, (l.book).in_use + l.numbers + 1)) - (l.book).slots) AS gap
            OFFSET (l.nth_of_tenant + (l.book).version) %% l.numbers LIMIT 1
        ),
        ticket = in_ms(clock.now), queued_at = clock.now, handed_at = clock.now, attempt = attempt + 1, followed = 0,
        waited_since = j.ready_at, own_until = least(greatest(j.ready_at, l.opened_at), clock.now), ready_at = NULL, start_time = NULL, worker = NULL, worker_pid = NULL, peak_memory = NULL,
        progress = NULL, progress_note = '', units = NULL
    FROM (
        SELECT
            *, least(left_slots, %(batch)s::int) AS numbers,
            CASE WHEN user_key <> '' THEN (tenant).user_slots - coalesce(((book).users ->> user_key)::int, 0) END AS left_of_user
        FROM locked
    ) l
    CROSS JOIN clock
    WHERE j.ctid = l.row
      AND (l.nth_of_user <= l.left_of_user) IS NOT FALSE  -- guard I1
    RETURNING
        j.id, j.attempt, j.tenant_id, j.queue_id, j.slot, j.user_key, l.pool, l.pool_rank, l.place, l.limited,
        extract(epoch FROM clock.now - l.ready_at)::float8 AS waited
),
