-- Arrow:  revive, error / dead / cancelled -> created; or rejoin, -> blocked, if it is in a sequence, where others may have their turn:
--         a new series of attempts. Failed attempts are kept, and the attempt
--         number keeps growing, so that no message of the old series can start the job.
-- Who:    its tenant (tenant given), or an operator (null). Locks: the row. Index: primary key.
-- The job gives up its key: an identical job may be under way by now. It does not expire any more: its tenant or an operator wants it.
WITH
-- include shared/briefly
revived AS (
    UPDATE jobs
    SET status = CASE WHEN sequence IS NULL THEN 'created' ELSE 'blocked' END,
        ready_at = CASE WHEN sequence IS NULL THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END,
        blocked_at = CASE WHEN sequence IS NOT NULL THEN coalesce(%(now)s::timestamptz, clock_timestamp()) END,
        end_time = NULL,
        died_at = NULL,
        cancel_requested_at = NULL,
        expires_at = NULL,
        reason = NULL,
        behind = NULL,
        replaced_by = NULL,
        waits_for = NULL,
        dedup_key = NULL,
        barred = false,
        retries = 0,
        crashes = 0,
        handed_back = 0,
        handed_back_why = '',
        progress = NULL,
        progress_note = ''
    FROM briefly
    WHERE id = %(id)s
      AND status IN ('error', 'dead', 'cancelled')  -- guard
      AND tenant_id = coalesce(%(tenant_id)s::bigint, tenant_id)  -- guard I8
      AND (%(tenant_id)s::bigint IS NULL OR NOT barred)  -- guard
      AND dedup_key IS DISTINCT FROM %(erased)s  -- guard
    RETURNING id, attempt, tenant_id, queue_id, priority, status
),
unbound AS (  -- a revived job waits for no other any more, only for its turn
    DELETE FROM job_edges WHERE follower_id IN (SELECT id FROM revived WHERE status = 'blocked')
),
arriving AS (
    SELECT queue_id, tenant_id, CASE WHEN status = 'created' THEN job_place(priority, id) END AS place, 1 AS jobs FROM revived
)
-- include shared/arrive
SELECT id, attempt, tenant_id, status FROM revived
