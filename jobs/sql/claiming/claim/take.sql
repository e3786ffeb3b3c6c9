-- 5. Take the first unlocked jobs of each lane's front, and give each a slot number.
locked AS MATERIALIZED (
    SELECT
        s.queue_id, s.tenant_id, s.pool, s.pool_rank, j.place, j.row, j.id, j.ready_at, j.user_key,
        v.num_slots, v.tenant_in_use, v.user_slots
    FROM served s
    JOIN visit v ON v.queue_id = s.queue_id AND v.tenant_id = s.tenant_id
    CROSS JOIN LATERAL (
        SELECT w.place, j.row, j.id, j.ready_at, j.user_key
        FROM unnest(v.front) WITH ORDINALITY AS w (place, nth)
        CROSS JOIN LATERAL (
            SELECT j.ctid AS row, j.id, j.ready_at, j.user_key FROM jobs j
            WHERE j.id BETWEEN w.place & 288230376151711743 AND w.place & 288230376151711743
              AND j.ready_at IS NOT NULL  -- guard
            ORDER BY j.id
            LIMIT 1
            FOR NO KEY UPDATE SKIP LOCKED
        ) j
        LIMIT s.n
    ) j
),
within_user AS MATERIALIZED (
    SELECT l.*
    FROM (
        SELECT *, row_number() OVER (PARTITION BY tenant_id, user_key ORDER BY pool_rank, place) AS nth_of_user
        FROM locked
    ) l
    CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM in_use u WHERE u.tenant_id = l.tenant_id AND u.user_key = l.user_key
    ) used
    WHERE l.user_slots IS NULL OR l.user_key = '' OR l.nth_of_user <= l.user_slots - used.n  -- guard I1
),
numbered AS MATERIALIZED (
    SELECT *,
        row_number() OVER (PARTITION BY tenant_id ORDER BY pool_rank, place) AS nth_of_tenant,
        row_number() OVER (PARTITION BY queue_id, tenant_id ORDER BY place) AS nth_of_lane
    FROM within_user
),
-- The slots in use plus those wanted always contain enough free numbers. Choose at random: while an old snapshot exists,
-- the unique index must check all dead versions of jobs that ever held the same number.
free_slot AS MATERIALIZED (
    SELECT t.tenant_id, s.slot, row_number() OVER (PARTITION BY t.tenant_id ORDER BY random()) AS nth
    FROM (
        SELECT tenant_id, least(max(num_slots), greatest(max(tenant_in_use) + count(*), 16)) AS n
        FROM numbered GROUP BY tenant_id
    ) t
    CROSS JOIN LATERAL generate_series(1, t.n) AS s (slot)
    WHERE NOT EXISTS (SELECT FROM in_use u WHERE u.tenant_id = t.tenant_id AND u.slot = s.slot)
),
claimed AS MATERIALIZED (
    UPDATE jobs j
    SET status = 'queued',
        slot = n.slot,
        ticket = nextval('door_seq'),
        followed = 0,
        waited_since = j.ready_at,
        ready_at = NULL,
        attempt = attempt + 1,
        queued_at = clock.now,
        handed_at = clock.now,
        start_time = NULL,
        worker = NULL,
        worker_pid = NULL,
        peak_memory = NULL,
        progress = NULL,
        progress_note = ''
    FROM (SELECT n.*, f.slot FROM numbered n JOIN free_slot f ON f.tenant_id = n.tenant_id AND f.nth = n.nth_of_tenant) n
    CROSS JOIN clock
    JOIN open_queue q ON q.id = n.queue_id
    JOIN visit v ON v.queue_id = n.queue_id AND v.tenant_id = n.tenant_id
    WHERE j.ctid = n.row
    RETURNING
        j.id, j.attempt, j.tenant_id, n.queue_id, n.pool, n.pool_rank * 1000 + n.nth_of_lane AS pool_rank,
        j.ticket, n.place,
        extract(epoch FROM clock.now - n.ready_at)::float8 AS waited,
        q.rate_limit IS NOT NULL OR v.rate_limit IS NOT NULL AS limited
),
