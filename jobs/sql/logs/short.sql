-- name: forget_old_logs
-- Change: delete logs that are older than the history, everybody's or that of their tenant; at most `batch`.
-- Who:    the clock's upkeep. Index: none, few job types have logs.
DELETE FROM job_logs
WHERE id IN (
    SELECT l.id FROM job_logs l LEFT JOIN tenant_queues t ON t.tenant_id = l.tenant_id
    WHERE l.at < coalesce(%(now)s::timestamptz, clock_timestamp())
        - least(%(seconds)s, t.history_days * 86400) * interval '1 second'  -- guard
    LIMIT %(batch)s
)
RETURNING id

-- name: keep_log
-- Change: keep what an attempt logged and printed. Who: the process that ran it, before it settles, and only if there is
--         something. Locks: its row. Index: job_logs_once.
INSERT INTO job_logs (tenant_id, job_id, attempt, text) VALUES (%(tenant_id)s, %(job_id)s, %(attempt)s, %(text)s)
ON CONFLICT (job_id, attempt) DO UPDATE SET tenant_id = excluded.tenant_id, text = excluded.text, at = clock_timestamp()
