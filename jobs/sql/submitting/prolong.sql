-- Change: let jobs expire later, since identical calls have joined them. Not an arrow: the status stays.
--         One that waits for an event keeps its patience.
-- Who:    submit, for jobs that would expire before the new call does. Those that it misses have ended, or expired.
-- Locks:  the rows, by id, until the caller's transaction ends. Index: primary key.
WITH
-- include shared/clock
asked AS MATERIALIZED (
    SELECT id, max(until) AS until FROM unnest(%(ids)s::bigint[], %(untils)s::timestamptz[]) AS a (id, until) GROUP BY id
),
mine AS MATERIALIZED (
    SELECT j.id FROM jobs j CROSS JOIN clock
    WHERE j.id IN (SELECT id FROM asked)
      AND j.end_time IS NULL  -- guard
      AND (j.expires_at IS NULL OR j.expires_at > clock.now)  -- guard
    ORDER BY j.id
    FOR NO KEY UPDATE OF j
)
UPDATE jobs
SET expires_at = CASE
    WHEN waits_for IS NOT NULL THEN expires_at
    WHEN expires_at IS NOT NULL THEN nullif(greatest(expires_at, asked.until), 'infinity')
END
FROM mine JOIN asked USING (id)
WHERE jobs.id = mine.id
RETURNING jobs.id
