-- name: take_webhooks
-- Change: take at most `seats` endpoints for a turn, for `lease` seconds: each gets a number. Either endpoints that work, or
--         endpoints that fail; the one served longest ago comes first. Returns them.
-- Who:    the thread of the leading clock that posts; two at once take different ones. Locks: the rows; it skips locked ones.
-- Index:  the key of webhook_messages, one look for each endpoint that has messages.
WITH RECURSIVE
-- include shared/clock
-- include shared/outbox
free AS MATERIALIZED (
    SELECT e.id
    FROM waits
    JOIN webhook_endpoints e ON e.id = waits.endpoint_id
    CROSS JOIN clock
    WHERE e.off_at IS NULL  -- guard
      AND (e.failures > 0) = %(failing)s
      AND coalesce(e.next_at <= clock.now, true)  -- guard
      AND coalesce(e.taken_until <= clock.now, true)  -- guard
      AND EXISTS (
          SELECT FROM webhook_messages m
          WHERE m.endpoint_id = e.id AND coalesce(m.next_at <= clock.now, true)
      )
    ORDER BY e.tried_at NULLS FIRST, e.id
    LIMIT %(seats)s
    FOR NO KEY UPDATE OF e SKIP LOCKED
)
UPDATE webhook_endpoints e
SET turn = e.turn + 1, taken_until = clock.now + %(lease)s * interval '1 second'
FROM free CROSS JOIN clock
WHERE e.id = free.id
RETURNING
    e.id AS endpoint, e.turn, e.tenant_id, e.url, e.failures, clock.now AS at,
    CASE WHEN e.former_until > clock.now THEN ARRAY[e.salt, e.former_salt] ELSE ARRAY[e.salt] END AS salts

-- name: read_messages
-- Reads:  the first messages of endpoints that were taken: at most `most` of one that works, and one of one that fails, in the
--         order in which their jobs ended. Who: as take_webhooks, after it: so the turn before has deleted the messages that it
--         delivered. Locks: none. Index: the key of webhook_messages.
WITH
-- include shared/clock
taken AS (
    SELECT * FROM unnest(%(endpoints)s::bigint[], %(failures)s::int[]) AS of (endpoint_id, failures)
)
SELECT m.endpoint_id, m.event, m.ended_at, m.user_key, m.data::text
FROM taken
CROSS JOIN clock
CROSS JOIN LATERAL (
    SELECT * FROM webhook_messages m
    WHERE m.endpoint_id = taken.endpoint_id AND coalesce(m.next_at <= clock.now, true)
    ORDER BY m.event
    LIMIT CASE WHEN taken.failures > 0 THEN 1 ELSE %(most)s END
) m
ORDER BY m.endpoint_id, m.event

-- name: note_turn
-- Change: what came of a turn: delete the messages that were delivered, in whatever turn; and, if the turn is still the present one,
--         note a success or a failure of the endpoint. It is switched off if it is gone, or has failed for `patience` seconds
--         without a pause of `pause`: a time without a try does not count. A message that was refused `most` times is set aside.
--         Returns the endpoint if it was switched off.
-- Who:    as take_webhooks. Locks: the rows; the endpoint's, unless another transaction has it: then it stays taken until its lease ends.
-- Index:  primary keys.
WITH
-- include shared/clock
told AS (
    DELETE FROM webhook_messages
    WHERE endpoint_id = %(endpoint)s AND event = ANY(%(told)s::bigint[])
),
refused AS (
    UPDATE webhook_messages m
    SET tries = m.tries + 1,
        next_at = CASE WHEN m.tries + 1 >= %(most)s THEN clock.now + %(aside)s * interval '1 second' END
    FROM clock
    WHERE m.endpoint_id = %(endpoint)s AND m.event = %(refused)s::bigint
),
present AS MATERIALIZED (
    SELECT
        e.id,
        CASE
            WHEN %(why)s::text IS NULL THEN NULL
            WHEN e.failing_since IS NULL OR e.tried_at < clock.now - %(pause)s * interval '1 second' THEN clock.now
            WHEN cardinality(%(told)s::bigint[]) > 0 THEN clock.now
            ELSE e.failing_since
        END AS failing_since
    FROM webhook_endpoints e CROSS JOIN clock
    WHERE e.id = %(endpoint)s
      AND e.turn = %(turn)s  -- guard
    FOR NO KEY UPDATE OF e SKIP LOCKED
),
noted AS (
    UPDATE webhook_endpoints e
    SET tried_at = clock.now,
        failing_since = present.failing_since,
        failures = CASE
            WHEN %(why)s::text IS NULL THEN 0
            WHEN cardinality(%(told)s::bigint[]) > 0 THEN 1
            ELSE e.failures + 1
        END,
        last_error = coalesce(%(why)s::text, ''),
        next_at = clock.now + %(wait)s::float8 * interval '1 second',
        taken_until = CASE WHEN %(ended)s THEN NULL ELSE e.taken_until END,
        off_at = coalesce(e.off_at, CASE
            WHEN %(gone)s OR present.failing_since < clock.now - %(patience)s * interval '1 second' THEN clock.now
        END)
    FROM present CROSS JOIN clock
    WHERE e.id = present.id
    RETURNING e.id, e.off_at = clock.now AS switched_off
),
counted AS (
    INSERT INTO webhook_hours AS h (endpoint_id, hour, delivered, failed)
    SELECT noted.id, date_trunc('hour', clock.now), cardinality(%(told)s::bigint[]), (%(why)s::text IS NOT NULL)::int
    FROM noted CROSS JOIN clock
    ON CONFLICT (endpoint_id, hour) DO UPDATE
    SET delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed
)
SELECT id FROM noted WHERE switched_off

-- name: drop_messages
-- Change: delete messages that are older than `age` seconds, and the oldest ones of an endpoint that has more than `most`; at most
--         `batch` of each endpoint. Returns the endpoints that lost any, and how many.
-- Who:    as take_webhooks. Locks: the rows. Index: the key of webhook_messages: of each endpoint at most `most` keys, and its first
--         `batch` messages.
WITH RECURSIVE
-- include shared/clock
-- include shared/outbox
bounds AS MATERIALIZED (  -- looked for once for each endpoint
    SELECT waits.endpoint_id, (
        SELECT one.event FROM webhook_messages one
        WHERE one.endpoint_id = waits.endpoint_id
        ORDER BY one.event DESC
        OFFSET %(most)s
        LIMIT 1
    ) AS last
    FROM waits
    WHERE waits.endpoint_id IS NOT NULL
),
dropped AS (
    DELETE FROM webhook_messages m
    USING (
        SELECT early.endpoint_id, early.event
        FROM bounds
        CROSS JOIN clock
        CROSS JOIN LATERAL (
            SELECT one.endpoint_id, one.event, one.ended_at FROM webhook_messages one
            WHERE one.endpoint_id = bounds.endpoint_id
            ORDER BY one.event
            LIMIT %(batch)s
        ) early
        WHERE early.ended_at < clock.now - %(age)s * interval '1 second' OR early.event <= bounds.last
    ) old
    WHERE m.endpoint_id = old.endpoint_id AND m.event = old.event
    RETURNING m.endpoint_id
),
counted AS (
    INSERT INTO webhook_hours AS h (endpoint_id, hour, dropped)
    SELECT dropped.endpoint_id, date_trunc('hour', clock.now), count(*) FROM dropped CROSS JOIN clock
    GROUP BY 1, 2
    ON CONFLICT (endpoint_id, hour) DO UPDATE SET dropped = h.dropped + excluded.dropped
)
SELECT endpoint_id, count(*) FROM dropped GROUP BY endpoint_id
