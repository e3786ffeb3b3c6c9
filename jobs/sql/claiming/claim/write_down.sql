-- 4. Write down, in the books: what was taken. A visited lane goes to the end of the circle, or leaves it until an arrival or
-- a freed slot brings it back: one that is full, a slot of its own. A lane that could have been served, but was not, is visited first the
-- next time.
outcome AS MATERIALIZED (  -- of each visit. n: its jobs; of_tenant, slots, users: of all lanes of its tenant
    SELECT
        queue_id, position, lane_row, book_row, tenant, weight, lane_in_use, opened_at, virtual_time, front, by_user, n, last, rest, of_tenant,
        slots, users, uncounted, cardinality((front).places) > 0 AS could, in_time AND own_slots > 0 AS in_turn,
        nextval('door_seq') AS number,
        CASE
            WHEN passed_over THEN 'ready'
            WHEN lane_left <= n THEN 'full'
            WHEN free <= of_tenant THEN 'closed'
            WHEN by_user AND cardinality((front).places) = 0 AND (front).all_users THEN 'closed'
            WHEN NOT by_user AND rest IS NULL AND cardinality((front).places) < (front).startable + 8 THEN 'empty'
            ELSE 'ready'
        END AS state,
        NOT passed_over AND free <= of_tenant AND lends > of_tenant AND lane_left > n AS rests,
        NOT passed_over AND (  -- another pass may find a job of this lane that may start, unless it closes
            NOT by_user OR NOT (front).all_users OR n < (front).startable OR n = room
        ) AS again,
        full_after, rate_next_at((tenant).rate_limit, (tenant).rate_window, full_after) AS next_token_at
    FROM (
        SELECT
            v.queue_id, v.room, v.position, v.lane_row, v.book_row, v.tenant, v.weight, v.lane_in_use, v.opened_at, v.uncounted, v.passed_over,
            v.free, v.own_slots, v.lane_left, v.virtual_time, v.in_time, v.front, mine.*,
            clock.now, rate_after((v.tenant).rate_limit, (v.tenant).rate_window, v.full_at, clock.now, mine.of_tenant) AS full_after,
            (v.tenant).user_slots IS NOT NULL AS by_user,
            CASE WHEN (v.tenant).num_slots > 0 THEN (v.tenant).burst_slots - (v.book).in_use END AS lends,
            (  -- the first place of the front that was not taken
                SELECT min(w.place) FROM unnest((v.front).places) AS w (place) WHERE w.place <> ALL(coalesce(mine.places, '{}'))
            ) AS rest
        FROM visit v
        CROSS JOIN clock
        CROSS JOIN LATERAL (
            SELECT
                count(*) FILTER (WHERE c.queue_id = v.queue_id)::int AS n, count(*)::int AS of_tenant,
                max(c.place) FILTER (WHERE c.queue_id = v.queue_id) AS last, array_agg(c.place) AS places,
                range_agg(int4range(c.slot, c.slot + 1)) AS slots, array_agg(c.user_key) AS users
            FROM claimed c WHERE c.tenant_id = v.tenant_id
        ) mine
        WHERE v.turn > 0
        ORDER BY mine.n > 0, v.position
    ) o
),
lanes_moved_on AS (
    UPDATE lanes l
    SET version = o.number, position = circle_place(o.number, NULL), state = o.state,
        virtual_time = greatest(l.virtual_time, o.virtual_time - worked_since(l.in_use, l.tickets, clock.now) / o.weight),
        head = CASE WHEN o.by_user THEN l.head ELSE coalesce(o.rest, o.last + 1, l.head) END,
        last_user = CASE WHEN (o.front).all_users THEN '' ELSE (o.front).last_user END,
        opened_at = o.opened_at,  -- or when its queue was held no longer, for those that follow in its slots
        waiting = l.waiting - o.n,  -- below 0 if it came after the fold: its arrival follows
        in_use = l.in_use + o.n, tickets = l.tickets + o.n * in_ms(clock.now),
        opens_at = CASE  -- one that rests is opened by a pass that lends
            WHEN o.state = 'closed' AND o.next_token_at > clock.now THEN o.next_token_at
            WHEN o.rests THEN '9999-12-31 00:00+00'
        END
    FROM outcome o CROSS JOIN clock WHERE l.ctid = o.lane_row
),
tenants_moved_on AS (  -- of the visits of a tenant, which all say the same of it, one is written down; also if its rate is another
    UPDATE tenant_books b
    SET version = nextval('door_seq'), in_use = b.in_use + o.of_tenant, slots = b.slots + coalesce(o.slots, '{}'),
        users = CASE WHEN o.of_tenant = 0 THEN b.users WHEN o.by_user THEN tally(coalesce(b.users, '{}'), o.users, 1) END,
        full_at = o.full_after, full_limit = (o.tenant).rate_limit, full_window = (o.tenant).rate_window
    FROM outcome o
    WHERE b.ctid = o.book_row
      AND (o.of_tenant > 0 OR (o.tenant).id IS NOT NULL AND (b.full_limit, b.full_window) IS DISTINCT FROM (
          (o.tenant).rate_limit, (o.tenant).rate_window
      ))
),
next_turn AS MATERIALIZED (  -- least, growth: of this round so far. visited: not all are; one that is not contends, too
    SELECT
        q.pool, q.turn_row, q.pool_free, q.others, q.weight, q.rate_limit, q.rate_window, q.full_at, q.lane_time, q.head, q.ready, v.position, v.whole,
        v.uncounted, v.n, v.last_place, v.again, v.queue_id IS NOT NULL AS visited,
        CASE WHEN v.whole AND NOT v.could_stay THEN 'empty' ELSE 'ready' END AS state,
        CASE WHEN v.least IS NOT NULL AND (v.whole OR v.served) THEN q.present END AS contending,
        v.whole OR v.position >= q.circle_end AS round_ends,
        CASE WHEN v.whole THEN v.least ELSE least(q.round_least, v.least) END AS least,
        CASE WHEN v.whole THEN v.least_growth ELSE least(q.round_growth, v.least_growth) END AS least_growth,
        min(CASE
            WHEN v.queue_id IS NULL AND q.ready OR v.least IS NOT NULL AND (v.whole OR v.served) THEN q.present
        END) OVER (PARTITION BY q.pool) AS pool_least,
        sum(v.n) OVER (PARTITION BY q.pool) AS taken_of_pool
    FROM asked q
    LEFT JOIN (
        SELECT
            queue_id, max(position) AS position, bool_or(lane_row IS NULL) AS whole, bool_or(uncounted) AS uncounted,
            sum(n)::int AS n, circle_place(max(number) FILTER (WHERE lane_row IS NOT NULL), NULL) AS last_place,
            bool_or(lane_row IS NOT NULL AND state = 'ready') AS could_stay,
            bool_or(lane_row IS NOT NULL AND (state = 'ready' AND again OR rests)) AS again,
            bool_or(could AND in_turn) AS served, min(virtual_time) FILTER (WHERE could) AS least,
            min(lane_in_use / weight::float8) FILTER (WHERE could) AS least_growth
        FROM outcome GROUP BY queue_id
    ) v ON v.queue_id = q.id
    WHERE q.served
),
turns_moved_on AS (
    UPDATE queue_turns t
    SET version = nextval('door_seq'), timed_at = clock.now, head = n.position, state = n.state,
        virtual_time = greatest(t.virtual_time, n.contending - worked_since(t.in_use, t.tickets, clock.now) / n.weight),
        pool_time = greatest(t.pool_time, n.pool_least),
        lane_time = greatest(n.lane_time, CASE WHEN n.round_ends THEN n.least END),
        growth = CASE WHEN n.round_ends THEN coalesce(n.least_growth, 0) ELSE t.growth END,
        -- The next round ends with the last lane placed now. It must visit every lane once: otherwise the time would
        -- follow the lanes that are visited first.
        circle_end = CASE WHEN n.round_ends THEN coalesce(n.last_place, t.circle_end) ELSE t.circle_end END,
        round_least = CASE WHEN NOT n.round_ends THEN n.least END,
        round_growth = CASE WHEN NOT n.round_ends THEN n.least_growth END,
        full_at = rate_after(n.rate_limit, n.rate_window, n.full_at, clock.now, n.n), full_limit = n.rate_limit,
        full_window = n.rate_window, in_use = t.in_use + n.n, tickets = t.tickets + n.n * in_ms(clock.now)
    FROM next_turn n CROSS JOIN clock WHERE t.ctid = n.turn_row AND (n.position > n.head OR n.ready AND n.state = 'empty')
)
