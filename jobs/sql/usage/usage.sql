-- Reads:  what tenants used on the days from `starts` up to `ends`, grouped by the parts in `by`; of days that are not closed,
--         from `open` on, what the hours have counted by now. Who: the tenant (tenant_id), and operators (null).
-- Locks:  none. Index: the primary keys, or for all tenants usage_days_by_day and the partitions of some days.
WITH
-- include shared/unbilled
, used AS (
    SELECT tenant_id, day, queue_id, source_type, source_method, outcome, attempts, microseconds, targeted, in_time, units
    FROM usage_days
    WHERE day >= %(starts)s::date AND day < %(ends)s::date
      AND (%(tenant_id)s::bigint IS NULL OR tenant_id = %(tenant_id)s)  -- guard I8
    UNION ALL
    SELECT tenant_id, greatest(ended_on, %(open)s::date), queue_id, source_type, source_method, outcome,
        attempts, microseconds, targeted, in_time, units
    FROM unbilled
    WHERE greatest(ended_on, %(open)s::date) >= %(starts)s::date AND greatest(ended_on, %(open)s::date) < %(ends)s::date
)
SELECT
    CASE WHEN 'tenant' = ANY(%(by)s) THEN tenant_id END AS tenant_id,
    CASE WHEN 'day' = ANY(%(by)s) THEN day END AS day,
    CASE WHEN 'queue' = ANY(%(by)s) THEN queue_id END AS queue_id,
    CASE WHEN 'type' = ANY(%(by)s) THEN source_type END AS source_type,
    CASE WHEN 'type' = ANY(%(by)s) THEN source_method END AS source_method,
    CASE WHEN 'outcome' = ANY(%(by)s) THEN outcome END AS outcome,
    sum(attempts)::bigint AS attempts,
    sum(microseconds)::bigint AS microseconds,
    sum(targeted)::bigint AS targeted,
    sum(in_time)::bigint AS in_time,
    sum_units(units)::text AS units
FROM used
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 2, 1, 3, 4, 5, 6
LIMIT %(most)s
