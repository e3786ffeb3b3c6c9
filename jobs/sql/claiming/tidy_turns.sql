-- Change: keep the turns that a pass reads few, and new. Of the queues where nothing waits and no job is in a slot all but one of a
--         pool fall asleep: the one that keeps the pool's time. The others are written anew: no version before them is read any
--         more, of which a held snapshot may keep any number.
--         One with lanes that rest stays awake: a pass that lends may open them; and one whose bucket is not full. From now on a
--         bucket fills up at the rate that its queue has now.
-- Who:    the clock, inside the door; elsewhere it does nothing. The fold wakes a queue with a lane in it.
-- Locks:  rows that only dispatches write. Index: queue_turns_awake; lanes_opening.
WITH
-- include shared/clock
awake AS MATERIALIZED (
    SELECT
        t.row, q.rate_limit, q.rate_window, rate_full_at(
            q.rate_limit, q.rate_window, t.full_at, t.full_limit, t.full_window, clock.now
        ) AS full_at, CASE
            WHEN state = 'ready' OR in_use > 0 OR t.full_at > clock.now OR queue_id IN (
                SELECT queue_id FROM lanes WHERE opens_at = '9999-12-31 00:00+00'
            ) THEN state
            WHEN row_number() OVER (PARTITION BY q.pool ORDER BY pool_time DESC, version) > 1 THEN 'asleep'
            ELSE 'keeps'
        END AS state
    FROM (
-- include shared/awake_turns
    ) t
    CROSS JOIN clock
    LEFT JOIN queues q ON q.id = t.queue_id
),
tidied AS (
    UPDATE queue_turns t
    SET version = nextval('door_seq'), state = awake.state, full_at = awake.full_at, full_limit = awake.rate_limit,
        full_window = awake.rate_window
    FROM awake WHERE t.ctid = awake.row
    RETURNING t.version, t.state
)
UPDATE door
SET floor = (SELECT coalesce(min(version) FILTER (WHERE state <> 'asleep'), max(version)) FROM tidied)
WHERE version = (SELECT max(version) FROM door) AND EXISTS (SELECT FROM tidied)
