-- Change: what erase_jobs does, for the tenant's jobs in the history, with the failed attempts that they carry.
-- Who:    an operator, batch after batch. Locks: the rows. Index: job_history_of_tenant.
-- Returns the last id it looked at (null: no more), the number of jobs erased, 0, the failed attempts, and the jobs with a
-- result, as [id, attempt, start_time].
WITH seen AS MATERIALIZED (
    SELECT
        id, end_time, attempt, start_time, result_expires_at > clock_timestamp() AS kept, jsonb_array_length(failed_attempts) AS failed
    FROM job_history
    WHERE tenant_id = %(tenant_id)s AND id > %(after)s
    ORDER BY id
    LIMIT %(batch)s
),
erased AS (
    UPDATE job_history h
    SET args = '{}', stats = '{}', cursor = NULL, event = NULL, last_error = '', progress_note = '', user_key = '', dedup_key = %(erased)s,
        sequence = NULL,
        result_expires_at = NULL, result_bytes = NULL, failed_attempts = '[]'
    FROM seen
    WHERE h.id = seen.id AND h.end_time = seen.end_time
    RETURNING h.id
)
SELECT
    max(id), (SELECT count(*) FROM erased), 0, coalesce(sum(failed), 0),
    coalesce(jsonb_agg(jsonb_build_array(id, attempt, start_time)) FILTER (WHERE kept), '[]')
FROM seen
