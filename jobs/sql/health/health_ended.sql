-- Reads:  the attempts that ended in the last minutes that the recorder has counted, those that failed, and those whose job
--         died. Who: health. Locks: none. Index: the primary key of job_minutes, in the partition of the day.
WITH
-- include shared/clock
recent AS MATERIALIZED (
    SELECT outcome, attempts FROM job_minutes m CROSS JOIN clock
    WHERE m.minute > clock.now - %(minutes)s * interval '1 minute'  -- guard
)
SELECT
    coalesce(sum(attempts), 0)::int AS attempts,
    coalesce(sum(attempts) FILTER (WHERE outcome IN ('error', 'dead', 'retry', 'crash')), 0)::int AS failed,
    coalesce(sum(attempts) FILTER (WHERE outcome = 'dead'), 0)::int AS died
FROM recent
