-- Reads:  the latest failed attempts of a job type in these times, with their errors: `most` of them; of jobs that are not in the
--         history yet.
-- Who:    the operators' page of a job type, kept for half a minute; it chooses times with few attempts of all types.
-- Locks:  none. Index: attempts_ended, failed_attempts_once.
WITH
failed AS MATERIALIZED (
    SELECT a.*
    FROM unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) AS times (begins, ends)
    CROSS JOIN LATERAL (
        SELECT job_id, attempt, tenant_id, ended_at
        FROM attempts
        WHERE ended_at >= times.begins AND ended_at < times.ends
          AND source_type = %(source_type)s AND source_method = %(source_method)s
          AND outcome = ANY(%(failures)s)
    ) a
    ORDER BY a.ended_at DESC
    LIMIT %(most)s
)
SELECT a.tenant_id, a.ended_at, f.error_class || ': ' || f.error AS error
FROM failed a
CROSS JOIN LATERAL (
    SELECT error_class, left(error, 1000) AS error FROM failed_attempts WHERE job_id = a.job_id AND attempt = a.attempt
) f
ORDER BY a.ended_at DESC
