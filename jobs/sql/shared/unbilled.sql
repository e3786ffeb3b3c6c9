-- The attempts that ended from `since` up to `until` (days in UTC): those in `tenant_hours` minus those in `usage_days`.
-- The hours keep seconds as floats of whole microseconds, which are exact up to a hundred years. So whole numbers are added.
counted AS (
    SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date AS ended_on, queue_id, source_type, source_method, outcome,
        sum(attempts)::bigint AS attempts,
        sum(round(run_seconds * 1000000)::bigint)::bigint AS microseconds,
        sum(targeted)::bigint AS targeted, sum(in_time)::bigint AS in_time, sum_units(units) AS units
    FROM tenant_hours
    WHERE hour >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
      AND hour < %(until)s::date::timestamp AT TIME ZONE 'UTC'  -- guard
      AND (%(tenant_id)s::bigint IS NULL OR tenant_id = %(tenant_id)s)  -- guard I8
    GROUP BY tenant_id, ended_on, queue_id, source_type, source_method, outcome
),
billed AS (
    SELECT tenant_id, ended_on, queue_id, source_type, source_method, outcome,
        sum(attempts) AS attempts, sum(microseconds) AS microseconds, sum(targeted) AS targeted, sum(in_time) AS in_time,
        sum_units(units) AS units
    FROM usage_days
    WHERE ended_on >= %(since)s::date
      AND day >= %(since)s::date  -- never before the attempts ended: for the index
      AND (%(tenant_id)s::bigint IS NULL OR tenant_id = %(tenant_id)s)
    GROUP BY tenant_id, ended_on, queue_id, source_type, source_method, outcome
),
unbilled AS (
    SELECT c.tenant_id, c.ended_on, c.queue_id, c.source_type, c.source_method, c.outcome,
        c.attempts - coalesce(b.attempts, 0) AS attempts, c.microseconds - coalesce(b.microseconds, 0) AS microseconds,
        c.targeted - coalesce(b.targeted, 0) AS targeted, c.in_time - coalesce(b.in_time, 0) AS in_time,
        less_units(c.units, b.units) AS units
    FROM counted c
    LEFT JOIN billed b USING (tenant_id, ended_on, queue_id, source_type, source_method, outcome)
    WHERE c.attempts > coalesce(b.attempts, 0)  -- guard
)
