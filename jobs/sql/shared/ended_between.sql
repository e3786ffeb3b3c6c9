-- The attempts that ended from `starts` up to `ends`, with the wait target of their queue when they started (null: it had none, or is
-- gone). A clock that was set back makes no negative times; of an attempt from before an upgrade, the wait is not known.
said AS (
    SELECT subject, at, id, limits ->> 'wait_target' AS target, lag(limits ->> 'wait_target') OVER (PARTITION BY subject ORDER BY at, id) AS before
    FROM limit_changes
    WHERE kind = 'queue'  -- guard
),
targets AS (  -- of a queue, one at a time: so each attempt counts once
    SELECT subject AS queue_id, make_interval(secs => target::float8) AS target,
        at AS since, lead(at, 1, 'infinity') OVER (PARTITION BY subject ORDER BY at, id) AS until
    FROM said WHERE target IS DISTINCT FROM before
),
ended AS (
    SELECT a.ended_at, a.tenant_id, a.queue_id, a.source_type, a.source_method, a.outcome, a.units, t.target,
        greatest(a.ended_at - a.start_time, interval '0') AS ran,
        CASE WHEN a.waited_since IS NOT NULL THEN greatest(a.start_time - a.waited_since, interval '0') END AS waited,
        CASE WHEN a.waited_since IS NOT NULL THEN greatest(a.start_time - greatest(a.own_until, a.waited_since), interval '0') END AS waited_for_process
    FROM attempts a
    LEFT JOIN targets t ON t.queue_id = a.queue_id AND a.start_time >= t.since AND a.start_time < t.until
    WHERE a.ended_at >= %(starts)s::timestamptz AND a.ended_at < %(ends)s::timestamptz
),
