-- Reads:  the attempts of a job type that ended in these times, by tenant, the most first: how many, how many failed, the seconds
--         that they ran, the p95 of their run times and waits; and how many tenants there are.
-- Who:    the operators' page of a job type, kept for half a minute; it chooses times with few attempts of all types.
-- Locks:  none. Index: attempts_ended.
WITH
ended AS MATERIALIZED (
    SELECT
        a.tenant_id, a.outcome, extract(epoch FROM a.ended_at - a.start_time)::float8 AS ran,
        extract(epoch FROM a.start_time - a.waited_since)::float8 AS waited
    FROM unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) AS times (begins, ends)
    CROSS JOIN LATERAL (
        SELECT tenant_id, outcome, start_time, ended_at, waited_since
        FROM attempts
        WHERE ended_at >= times.begins AND ended_at < times.ends
          AND source_type = %(source_type)s AND source_method = %(source_method)s
    ) a
)
SELECT
    tenant_id, count(*)::int AS attempts, (count(*) FILTER (WHERE outcome = ANY(%(failures)s)))::int AS failed,
    sum(ran)::float8 AS run_seconds,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY ran) AS ran,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY waited) AS waited,
    (count(*) OVER ())::int AS tenants, (sum(count(*)) OVER ())::int AS together
FROM ended
GROUP BY tenant_id
ORDER BY attempts DESC, tenant_id
LIMIT %(most)s
