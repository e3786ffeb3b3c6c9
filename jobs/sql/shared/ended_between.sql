-- The attempts that ended from `starts` up to `ends`. A clock that was set back makes no negative times; of an attempt from
-- before an upgrade, the wait is not known.
ended AS (
    SELECT ended_at, tenant_id, queue_id, source_type, source_method, outcome,
        greatest(ended_at - start_time, interval '0') AS ran,
        CASE WHEN waited_since IS NOT NULL THEN greatest(start_time - waited_since, interval '0') END AS waited,
        CASE WHEN waited_since IS NOT NULL THEN greatest(start_time - greatest(own_until, waited_since), interval '0') END AS waited_for_process
    FROM attempts
    WHERE ended_at >= %(starts)s::timestamptz AND ended_at < %(ends)s::timestamptz
),
