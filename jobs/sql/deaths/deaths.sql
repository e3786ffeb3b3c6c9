-- Reads:  the deaths after `since`, by tenant, job type and error class, each group with its newest job as a sample.
-- Who:    the clock's leader, for one notifier. Locks: none. Index: jobs_dead; failed_attempts_once; primary key.
-- It leaves the last `settled` seconds for the next time: a death gets its moment shortly before its commit, and `since`
-- must not pass a death that is not visible yet. If `since` is in the future, the clock was set back: then the statement returns
-- the deaths of a day, some of them for a second time, instead of none until the clock has reached `since` again.
WITH clock AS (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) - %(settled)s * interval '1 second' AS settled),
alike AS (
    SELECT
        j.tenant_id, j.source_type, j.source_method, coalesce(f.error_class, '') AS error_class,
        count(*) AS deaths, max(j.id) AS sample_id, max(j.died_at) AS last_at
    FROM jobs j
    CROSS JOIN clock
    LEFT JOIN failed_attempts f ON f.job_id = j.id AND f.attempt = j.attempt
    WHERE j.died_at > CASE WHEN %(since)s::timestamptz > clock.settled THEN clock.settled - interval '1 day' ELSE %(since)s::timestamptz END  -- guard
      AND j.died_at <= clock.settled  -- guard
    GROUP BY j.tenant_id, j.source_type, j.source_method, coalesce(f.error_class, '')
)
SELECT
    t.slug AS tenant, alike.source_type || '.' || alike.source_method AS job_type, alike.error_class,
    alike.deaths AS count, alike.sample_id AS sample, sample.last_error, alike.last_at
FROM alike
JOIN tenants_tenant t ON t.id = alike.tenant_id
JOIN jobs sample ON sample.id = alike.sample_id
ORDER BY alike.deaths DESC, alike.sample_id
