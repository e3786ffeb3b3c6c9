-- 4. Write down, in the books: what was taken. A visited lane goes to the end of the circle, or leaves it until an arrival or
-- a freed slot brings it back. A lane that could have been served, but was not, is visited first the next time.
outcome AS MATERIALIZED (  -- of each visit. rest: the first place of the front that was not taken
    SELECT
        *, nextval('door_seq') AS number,
        CASE
            WHEN passed_over THEN 'ready'
            WHEN free <= of_tenant THEN 'closed'
            WHEN user_slots IS NOT NULL AND cardinality(front) = 0 AND all_users THEN 'closed'
            WHEN user_slots IS NULL AND rest IS NULL AND cardinality(front) < wanted + 8 THEN 'empty'
            ELSE 'ready'
        END AS state,
        NOT passed_over AND free <= of_tenant AND burst > tenant_in_use + of_tenant AS rests,
        NOT passed_over AND (  -- another pass may find a job of this lane that may start, unless it closes
            user_slots IS NULL OR NOT all_users OR n < wanted OR n = room
        ) AS again,
        rate_next_at(
            rate_limit, rate_window, rate_after(rate_limit, rate_window, full_at, now, of_tenant)
        ) AS next_token_at
    FROM (
        SELECT v.*, mine.*, (
            SELECT min(w.place) FROM unnest(v.front) AS w (place) WHERE NOT w.place = ANY(coalesce(mine.places, '{}'))
        ) AS rest
        FROM visit v
        CROSS JOIN LATERAL (
            SELECT
                count(*) FILTER (WHERE c.queue_id = v.queue_id)::int AS n, count(*)::int AS of_tenant,
                max(c.place) FILTER (WHERE c.queue_id = v.queue_id) AS last, array_agg(c.place) AS places
            FROM claimed c WHERE c.tenant_id = v.tenant_id
        ) mine
        WHERE v.nth > 0
        ORDER BY mine.n > 0, v.position
    ) o
),
lanes_moved_on AS (
    UPDATE lanes l
    SET version = o.number,
        position = circle_place(o.number, NULL),
        state = o.state,
        virtual_time = greatest(l.virtual_time, o.virtual_time - o.seconds / o.weight),
        head = CASE WHEN o.user_slots IS NULL THEN coalesce(o.rest, o.last + 1, l.head) ELSE l.head END,
        waiting = l.waiting - o.n,  -- below 0 if it came after the fold: its arrival follows
        in_use = l.in_use + o.n,
        tickets = l.tickets + o.n * in_ms(o.now),
        last_user = CASE WHEN o.all_users THEN '' ELSE o.last_user END,
        opens_at = CASE  -- one that rests is opened by a pass that lends
            WHEN o.state = 'closed' AND o.next_token_at > o.now THEN o.next_token_at
            WHEN o.rests THEN '9999-12-31 00:00+00'
        END
    FROM outcome o
    WHERE l.ctid = o.lane_row
),
tenants_moved_on AS (
    UPDATE tenant_books b
    SET version = nextval('door_seq'),
        in_use = b.in_use + c.n,
        slots = b.slots + c.slots,
        users = CASE WHEN c.user_slots IS NOT NULL THEN tally(coalesce(b.users, '{}'), c.users, 1) END,
        full_at = coalesce(rate_after(c.rate_limit, c.rate_window, c.full_at, c.now, c.n), b.full_at)
    FROM (
        SELECT
            book_row, user_slots, rate_limit, rate_window, full_at, now, count(*)::int AS n,
            range_agg(int4range(slot, slot + 1)) AS slots, array_agg(user_key) AS users
        FROM claimed GROUP BY book_row, user_slots, rate_limit, rate_window, full_at, now
    ) c
    WHERE b.ctid = c.book_row
),
next_turn AS MATERIALIZED (
    SELECT q.*, tour.position, tour.moved, tour.whole, tour.least, tour.least_growth, tour.uncounted, mine.n,
        tour.whole OR tour.position >= q.circle_end AS round_ends,
        tour.least IS NOT NULL AND (tour.whole OR tour.served) AS contends,
        min(q.present) FILTER (WHERE tour.least IS NOT NULL AND (tour.whole OR tour.served))
            OVER (PARTITION BY q.pool) AS pool_least,
        sum(mine.n) OVER (PARTITION BY q.pool) AS taken_of_pool
    FROM open_queue q
    JOIN tour ON tour.queue_id = q.id
    CROSS JOIN LATERAL (SELECT count(*)::int AS n FROM claimed c WHERE c.queue_id = q.id) mine
),
turns_moved_on AS (
    UPDATE queue_turns t
    SET version = nextval('door_seq'),
        virtual_time = CASE WHEN n.contends THEN greatest(n.virtual_time, n.present - n.seconds / n.weight) ELSE n.virtual_time END,
        pool_time = greatest(n.pool_time, n.pool_least),
        lane_time = greatest(
            n.lane_time, CASE WHEN n.whole THEN n.least WHEN n.round_ends THEN least(n.round_least, n.least) END
        ),
        growth = CASE
            WHEN n.whole THEN coalesce(n.least_growth, 0)
            WHEN n.round_ends THEN coalesce(least(n.round_growth, n.least_growth), 0)
            ELSE n.growth
        END,
        timed_at = n.now,
        head = n.position,
        -- The next round ends with the last lane placed now. It must visit every lane once: otherwise the time would
        -- follow the lanes that are visited first.
        circle_end = CASE WHEN n.round_ends THEN (
            SELECT circle_place(max(o.number), NULL) FROM outcome o WHERE o.queue_id = n.id
        ) ELSE n.circle_end END,
        round_least = CASE WHEN NOT n.round_ends THEN least(n.round_least, n.least) END,
        round_growth = CASE WHEN NOT n.round_ends THEN least(n.round_growth, n.least_growth) END,
        full_at = coalesce(rate_after(n.rate_limit, n.rate_window, n.full_at, n.now, n.n), t.full_at),
        in_use = t.in_use + n.n,
        tickets = t.tickets + n.n * in_ms(n.now)
    FROM next_turn n
    WHERE t.ctid = n.turn_row AND n.moved
)
