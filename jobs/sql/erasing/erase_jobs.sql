-- Change: remove the contents of ended jobs of a tenant: arguments, statistics, errors, users. The jobs stay, with their times;
--         their key says that they cannot be revived. The name of a sequence goes, too; of a dead job that stops it, when that is discarded.
-- Who:    an operator, batch after batch: from the first id after `after`. Locks: the rows; it waits for locked ones.
-- Index:  jobs_of_tenant; failed_attempts_once.
-- Returns the last id it looked at (null: no more), the number of jobs erased, of jobs left alone (also those that were
-- revived or archived just now), of failed attempts, and the jobs with a result, as [id, attempt, start_time].
WITH seen AS MATERIALIZED (
    SELECT id, attempt, start_time, end_time IS NOT NULL AS ended, result_expires_at > clock_timestamp() AS kept
    FROM jobs
    WHERE tenant_id = %(tenant_id)s AND id > %(after)s
    ORDER BY id
    LIMIT %(batch)s
),
erased AS (
    UPDATE jobs
    SET args = '{}', stats = '{}', cursor = NULL, event = NULL, waits_for = NULL, last_error = '', progress_note = '', user_key = '', dedup_key = %(erased)s,
        sequence = CASE WHEN died_at IS NOT NULL AND sequence_stops THEN sequence END,
        result_expires_at = NULL, result_bytes = NULL
    WHERE id IN (SELECT id FROM seen)
      AND end_time IS NOT NULL  -- guard
    RETURNING id
),
attempts AS (DELETE FROM failed_attempts WHERE job_id IN (SELECT id FROM erased) RETURNING id)
SELECT
    max(id), (SELECT count(*) FROM erased), count(*) - (SELECT count(*) FROM erased), (SELECT count(*) FROM attempts),
    coalesce(jsonb_agg(jsonb_build_array(id, attempt, start_time)) FILTER (WHERE ended AND kept), '[]')
FROM seen
