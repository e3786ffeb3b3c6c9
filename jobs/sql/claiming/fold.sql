-- Change: take the arrivals and the freed slots since the last dispatch into the books: lanes, tenants and queues.
-- Who:    a dispatch, inside the door, before the claim. No other statement writes or locks the rows that it reads and deletes.
-- Locks:  none that a transaction waits for. Index: primary keys; lanes_opening; lanes_closed; jobs_claim.
-- New rows are those of transactions that had not ended in the snapshot of the last fold: xids from the end of that snapshot
-- on, and those that were under way then. So the fold finds rows that commit late, and does not read dead rows again and again
-- while an old snapshot exists. A dump restored on another server may have xids from the future: then the fold reads all rows.
-- Outside the door it does nothing.
-- Its twin in memory is `jobs/allocation/fold.py` (claim.sql).
-- Returns whether it left some rows to the next pass, whether there is news for the reader of ends (awaiting/read_ends.sql), and
-- whether lanes rest, of tenants that hold all of their slots and may borrow more. A pass that lends opens these.
WITH
-- include shared/clock
-- include shared/live_pools
memory AS MATERIALIZED (
    SELECT
        d.version, d.floor, coalesce(d.unseen, '{}') AS unseen,
        CASE WHEN d.since <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint THEN d.since ELSE 0 END AS since
    FROM (SELECT) always
    LEFT JOIN LATERAL (SELECT * FROM door ORDER BY version DESC LIMIT 1) d ON true
    WHERE current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
),
span AS MATERIALIZED (  -- of xids: all from `since` on, and each that was unseen
    SELECT xid AS low, CASE WHEN nth = 1 THEN 9223372036854775807 ELSE xid END AS high
    FROM memory CROSS JOIN unnest(since || unseen) WITH ORDINALITY AS begin (xid, nth)
    WHERE nth = 1 OR xid < since
),
arrival AS (
    DELETE FROM arrivals WHERE ctid = ANY(ARRAY(
        SELECT a.row FROM span CROSS JOIN LATERAL (
            SELECT ctid AS row FROM arrivals WHERE xid BETWEEN span.low AND span.high ORDER BY xid LIMIT 1000
        ) a
    ))
    RETURNING queue_id, tenant_id, head, jobs
),
freed AS (
    DELETE FROM freed_slots WHERE ctid = ANY(ARRAY(
        SELECT f.row FROM span CROSS JOIN LATERAL (
            SELECT ctid AS row FROM freed_slots WHERE xid BETWEEN span.low AND span.high ORDER BY xid LIMIT 1000
        ) f
    ))
    RETURNING tenant_id, job_id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost_process, holds, units
),
-- What each lane took. An attempt costs at least a millisecond, and at most the longest time until it is killed. One that
-- ended its process costs 1.1 s more: 1 s until another process works in its place (0.9 s were measured), and the jobs
-- before it in its slice, of which its row does not tell. While tokens of the queue's rate limit are scarce, its lanes pay
-- for each token what the processes could work until it comes again, if that is more (docs/adr/0008).
charge AS MATERIALIZED (
    SELECT f.tenant_id, f.queue_id, q.weight, count(f.slot)::int AS slots,
        coalesce(sum(f.ticket) FILTER (WHERE f.slot IS NOT NULL), 0)::bigint AS tickets,
        sum(f.followed)::int AS followed, count(*)::int AS attempts, sum(took.seconds) AS seconds,
        sum(greatest(took.seconds, token.seconds)) AS of_lane
    FROM freed f
    CROSS JOIN LATERAL (
        SELECT id, pool, weight, concurrency, rate_limit, rate_window, default_timeout FROM queues
        WHERE id BETWEEN f.queue_id AND f.queue_id
        ORDER BY id LIMIT 1
    ) q
    CROSS JOIN LATERAL (
        SELECT CASE WHEN f.lost_process THEN 1.1 ELSE 0 END + least(
            greatest(f.seconds, 0.001), coalesce(f.timeout, q.default_timeout, %(default_timeout)s) + %(overtime)s
        ) AS seconds
    ) took
    CROSS JOIN LATERAL (  -- scarce: at most half of them are left, and the only one of a bucket always is
        SELECT CASE WHEN q.rate_limit IS NOT NULL THEN (  -- not a join, whose other side would be read in any case
            SELECT least(sum(w.concurrency), q.concurrency) * q.rate_window / q.rate_limit
            FROM present_worker w
            CROSS JOIN clock
            WHERE w.live AND w.pool = q.pool
            GROUP BY clock.now
            HAVING rate_tokens(q.rate_limit, q.rate_window, (
                SELECT rate_full_at(q.rate_limit, q.rate_window, t.full_at, t.full_limit, t.full_window, clock.now)
                FROM queue_turns t WHERE queue_id = q.id ORDER BY version DESC LIMIT 1
            ), clock.now) <= (q.rate_limit + 1) / 2.0
        ) END AS seconds
    ) token
    WHERE f.seconds IS NOT NULL
    GROUP BY f.tenant_id, f.queue_id, q.weight
),
-- Lanes of the tenants that may start more: those that left the circle since such a tenant was met last. One that is full opens
-- when a slot of its own is free (`told`), or its limit has changed: the tenant's, or that of its queue, whose row has no tenant.
-- For that, which is rare, all closed lanes are read; the full ones of a queue are no more than its jobs in slots.
closed AS (
    SELECT l.queue_id, f.tenant_id
    FROM (SELECT tenant_id, bool_or(job_id = 0) AS limits FROM freed WHERE NOT holds GROUP BY tenant_id) f
    CROSS JOIN LATERAL (
        SELECT queue_id FROM lanes
        WHERE state IN ('closed', 'full') AND tenant_id = f.tenant_id AND (state = 'closed' OR f.limits)
          AND version > CASE WHEN f.limits THEN 0 ELSE coalesce((
              SELECT opened FROM tenant_books b WHERE b.tenant_id = f.tenant_id ORDER BY version DESC LIMIT 1
          ), 0) END
        ORDER BY tenant_id, version
    ) l
    UNION ALL
    SELECT l.queue_id, l.tenant_id
    FROM freed f
    CROSS JOIN LATERAL (
        SELECT queue_id, tenant_id FROM lanes
        WHERE state IN ('closed', 'full') AND state = 'full' AND queue_id = f.queue_id
        ORDER BY tenant_id, version
    ) l
    WHERE f.tenant_id = 0
),
opening AS MATERIALIZED (  -- lanes whose tenant has a token again, or may borrow
    SELECT l.queue_id, l.tenant_id FROM memory CROSS JOIN clock CROSS JOIN LATERAL (
        SELECT queue_id, tenant_id FROM lanes
        WHERE opens_at <= CASE WHEN %(borrow)s THEN '9999-12-31 00:00+00' ELSE clock.now END
        ORDER BY opens_at LIMIT 100
    ) l
),
-- The changes by lane. A lane that wakes and has used less than its share (and one attempt, if work arrives) is visited next,
-- after those that woke so before it (the new flows of FQ-CoDel, RFC 8290): a light user waits for the next free process, not
-- for a round.
news AS MATERIALIZED (
    SELECT queue_id, tenant_id, min(head) AS head, sum(jobs)::int AS jobs, sum(seconds) AS seconds, sum(slots)::int AS slots,
        sum(tickets)::bigint AS tickets, bool_or(opens) AS opens, bool_or(holds) AS holds,
        -- Whose lanes are held, of this queue: its own, or all (0). Null: as before.
        CASE WHEN bool_or(holds) THEN ARRAY(
            SELECT h.tenant_id FROM holds h WHERE h.queue_id = each_one.queue_id AND h.tenant_id IN (0, each_one.tenant_id)
        ) END AS holders
    FROM (
        SELECT queue_id, tenant_id, head, jobs, 0::float8 AS seconds, 0 AS slots, 0::bigint AS tickets, false AS opens, false AS holds
        FROM arrival
        UNION ALL
        SELECT queue_id, tenant_id, NULL, -followed, of_lane, slots, tickets, false, false FROM charge
        UNION ALL
        SELECT queue_id, tenant_id, NULL::bigint, 0, 0::float8, 0, 0::bigint, true, false FROM closed
        UNION ALL
        SELECT queue_id, tenant_id, NULL::bigint, 0, 0::float8, 0, 0::bigint, true, false FROM opening
        UNION ALL
        SELECT queue_id, tenant_id, NULL::bigint, 0, 0::float8, 0, 0::bigint, false, true FROM freed WHERE holds
    ) each_one
    GROUP BY queue_id, tenant_id
),
-- Lanes return to the end of the circle in the order in which they left it, after new ones; or to be visited next.
-- Materialized, or a plan that looks at these rows again for each lane would give new numbers each time.
told AS MATERIALIZED (
    SELECT *, nextval('door_seq') AS number,
        -- A held lane wakes when its last hold is over, and by nothing else.
        CASE WHEN state = 'held' OR held THEN NOT coalesce(held, true) ELSE moves END AS wakes, 0 = ANY(holders) AS queue_held
    FROM (
        SELECT n.*, l.row, l.state, l.position, turn.head AS turn_head, coalesce(tenant.weight, 1) AS weight,
            n.head IS NOT NULL OR n.opens AND l.state IN ('closed', 'full') OR n.slots > 0 AND l.state = 'full' AS moves,
            n.tenant_id = ANY(n.holders) AS held,
            turn.state <> 'ready' OR turn.version < (SELECT floor FROM memory) AS turn_sleeps,
            CASE
                WHEN coalesce(l.virtual_time, 0) + n.seconds / coalesce(tenant.weight, 1) < turn.lane_time
                    + CASE WHEN n.head IS NOT NULL THEN turn.mean_seconds / coalesce(tenant.weight, 1) ELSE 0 END
                THEN turn.head
            END AS before_all_from
        FROM news n
        LEFT JOIN LATERAL (
            SELECT version, state, head, lane_time, mean_seconds FROM queue_turns WHERE queue_id = n.queue_id ORDER BY version DESC LIMIT 1
        ) turn ON true
        LEFT JOIN LATERAL (
            SELECT ctid AS row, state, position, virtual_time FROM lanes
            WHERE tenant_id = n.tenant_id AND queue_id = n.queue_id
            ORDER BY version DESC
            LIMIT 1
        ) l ON true
        LEFT JOIN LATERAL (
            SELECT weight FROM tenant_queues
            WHERE tenant_id BETWEEN n.tenant_id AND n.tenant_id
            ORDER BY tenant_id
            LIMIT 1
        ) tenant ON true
        WHERE n.head IS NOT NULL OR n.jobs <> 0 OR n.holds
           OR l.row IS NOT NULL AND (n.seconds > 0 OR n.opens AND l.state IN ('closed', 'full'))
        ORDER BY l.row IS NOT NULL, l.position, n.head
    ) known
),
lanes_told AS (
    UPDATE lanes l
    SET version = k.number,
        state = CASE WHEN k.held THEN 'held' WHEN k.wakes THEN 'ready' ELSE l.state END,
        position = CASE
            WHEN k.wakes AND k.state <> 'ready' THEN circle_place(k.number, k.before_all_from)
            -- Its last jobs followed in slots, past the door: it is as new as an empty one.
            WHEN k.wakes AND k.head IS NOT NULL AND k.before_all_from IS NOT NULL AND (
                SELECT j.id FROM jobs j
                WHERE j.ready_at IS NOT NULL AND j.queue_id = l.queue_id AND j.tenant_id = l.tenant_id
                  AND (j.priority, j.id) >= ((l.head >> 58)::smallint, l.head & 288230376151711743)
                  AND (j.priority, j.id) < ((k.head >> 58)::smallint, k.head & 288230376151711743)
                ORDER BY j.priority, j.id LIMIT 1
            ) IS NULL THEN least(l.position, circle_place(k.number, k.before_all_from))
            ELSE l.position
        END,
        head = least(l.head, k.head),
        waiting = l.waiting + k.jobs,
        virtual_time = l.virtual_time + k.seconds / k.weight,
        in_use = l.in_use - k.slots,
        tickets = l.tickets - k.tickets,
        opens_at = CASE WHEN NOT k.wakes AND k.held IS NOT TRUE THEN l.opens_at END,
        opened_at = CASE WHEN k.wakes AND l.state IN ('closed', 'full', 'held') THEN clock.now ELSE l.opened_at END
    FROM told k CROSS JOIN clock
    WHERE l.ctid = k.row
),
lanes_begun AS (
    INSERT INTO lanes (tenant_id, queue_id, version, position, state, virtual_time, head, waiting, last_user)
    SELECT
        tenant_id, queue_id, number, circle_place(number, before_all_from),
        CASE WHEN held THEN 'held' WHEN wakes THEN 'ready' ELSE 'empty' END,
        seconds / weight, coalesce(head, 0), jobs, ''
    FROM told WHERE row IS NULL
    RETURNING tenant_id
),
tenants_begun AS (
    INSERT INTO tenant_books (tenant_id, version, in_use, slots)
    SELECT tenant_id, 0, 0, int4multirange() FROM lanes_begun begun
    WHERE (SELECT b.version FROM tenant_books b WHERE b.tenant_id = begun.tenant_id ORDER BY version DESC LIMIT 1) IS NULL
    ON CONFLICT DO NOTHING  -- of several lanes, the first
),
turns_begun AS (
    INSERT INTO queue_turns (queue_id, version)
    SELECT queue_id, nextval('door_seq')
    FROM (SELECT DISTINCT queue_id FROM told WHERE turn_head IS NULL AND head IS NOT NULL) begun
),
-- While a tenant does not limit its users, jobs of others follow in a slot, and no book knows whose. So what is known of its users
-- is forgotten when its limits change (the trigger's row has no job), and with a slot in which jobs followed. Then the claim
-- passes over a tenant that limits them, and has them counted.
-- What its attempts have used may use up a budget; a changed limit may be a budget. `spend` writes that down, and tells the claim.
tenants_told AS (
    UPDATE tenant_books b
    SET version = nextval('door_seq'), opened = b.version, in_use = b.in_use - f.n, slots = b.slots - f.slots,
        users = CASE WHEN NOT f.forget AND b.users IS NOT NULL THEN tally(b.users, f.users, -1) END,
        used = CASE WHEN f.spends THEN spend(b.tenant_id, b.used, f.units, clock.now) ELSE b.used END
    FROM (
        SELECT
            tenant_id, count(slot)::int AS n,
            coalesce(range_agg(int4range(slot, slot + 1)) FILTER (WHERE slot IS NOT NULL), '{}') AS slots,
            array_agg(user_key) FILTER (WHERE slot IS NOT NULL) AS users, bool_or(job_id = 0 OR followed > 0) AS forget,
            bool_or(job_id = 0 OR units IS NOT NULL) AS spends, jsonb_agg(units) FILTER (WHERE units IS NOT NULL) AS units
        FROM freed WHERE NOT holds GROUP BY tenant_id
    ) f CROSS JOIN clock
    WHERE b.ctid = (SELECT ctid FROM tenant_books WHERE tenant_id = f.tenant_id ORDER BY version DESC LIMIT 1)
),
turns_told AS (  -- the mean follows the attempts: each counts a tenth. A queue with a lane in its circle again is ready
    UPDATE queue_turns t
    SET version = nextval('door_seq'), virtual_time = t.virtual_time + c.seconds / c.weight,
        in_use = t.in_use - c.slots, tickets = t.tickets - c.tickets,
        mean_seconds = t.mean_seconds + (coalesce(c.seconds / nullif(c.attempts, 0), 0) - t.mean_seconds) * (1 - power(0.9, c.attempts)),
        state = CASE WHEN c.wakes THEN 'ready' ELSE t.state END,
        opened_at = CASE
            WHEN c.held THEN '9999-12-31 00:00+00'
            WHEN NOT c.held AND t.opened_at = '9999-12-31 00:00+00' THEN coalesce(%(now)s::timestamptz, statement_timestamp())
            ELSE t.opened_at
        END
    FROM (
        SELECT queue_id, max(weight) AS weight, sum(seconds) AS seconds, sum(slots)::int AS slots,
            sum(tickets)::bigint AS tickets, sum(attempts)::int AS attempts, bool_or(wakes) AS wakes, bool_or(held) AS held
        FROM (
            SELECT queue_id, weight, seconds, slots, tickets, attempts, false AS wakes, NULL::bool AS held FROM charge
            UNION ALL
            SELECT queue_id, 1, 0, 0, 0, 0, wakes AND turn_sleeps, queue_held FROM told WHERE wakes AND turn_sleeps OR holds
        ) each_one
        GROUP BY queue_id
    ) c
    WHERE t.ctid = (SELECT ctid FROM queue_turns WHERE queue_id = c.queue_id ORDER BY version DESC LIMIT 1)
),
counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM arrival) AS arrivals, (SELECT count(*) FROM freed) AS freed
),
remembered AS (  -- in one row; the first time there is none
    INSERT INTO door (version, since, unseen)
    SELECT
        coalesce(memory.version, nextval('door_seq')), pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
        ARRAY(SELECT xid::text::bigint FROM pg_snapshot_xip(pg_current_snapshot()) AS running (xid))
    FROM memory CROSS JOIN counted
    WHERE arrivals < 1000 AND freed < 1000 AND (arrivals + freed > 0 OR memory.version IS NULL)
    ON CONFLICT (version) DO UPDATE
    SET version = nextval('door_seq'), since = excluded.since, unseen = excluded.unseen
)
SELECT
    arrivals >= 1000 OR freed >= 1000 OR (NOT %(borrow)s AND (SELECT count(*) FROM opening) >= 100) AS more,
    EXISTS (
        SELECT FROM span CROSS JOIN LATERAL (
            SELECT FROM job_ends WHERE xid BETWEEN span.low AND span.high ORDER BY xid LIMIT 1
        ) news
    )
    OR EXISTS (SELECT FROM job_edges CROSS JOIN clock WHERE until <= clock.now) AS ends,
    EXISTS (SELECT FROM lanes WHERE opens_at = '9999-12-31 00:00+00') AS resting
FROM counted
