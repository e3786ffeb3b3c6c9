-- Reads:  a waiting job's place in its lane (its tenant's jobs in its queue), from 1, and the first few tenants and queues
--         that wait for the same workers. No row if it does not wait. Changes nothing, locks nothing.
-- Who:    explain.
-- Index:  jobs_claim, at most `most` jobs before it; lanes_circle, at most `probes` lanes of each queue.
-- The order is the claim's: priority, then id; it skips jobs of users at their limit.
WITH
-- include shared/present
job AS MATERIALIZED (
    SELECT j.id, j.tenant_id, j.queue_id, j.user_key, j.priority, q.pool
    FROM jobs j
    JOIN queues q ON q.id = j.queue_id
    WHERE j.id = %(id)s AND j.ready_at IS NOT NULL
),
lane AS (
    SELECT q.id AS queue_id, q.name, l.tenant_id
    FROM job
    JOIN queue_state q ON q.pool = job.pool
    CROSS JOIN LATERAL (
        SELECT tenant_id FROM lanes
        WHERE state = 'ready' AND queue_id = q.id AND position > q.head
        ORDER BY position
        LIMIT CASE WHEN q.id = job.queue_id THEN %(probes)s ELSE 1 END
    ) l
    WHERE NOT q.paused AND (q.concurrency IS NULL OR q.concurrency > q.in_use)
),
-- include shared/own_use
-- include explain_line/before
SELECT
    before.place,
    ARRAY(
        SELECT t.name FROM lane
        JOIN tenants_tenant t ON t.id = lane.tenant_id
        JOIN tenant_queues tq ON tq.tenant_id = lane.tenant_id
        WHERE lane.queue_id = job.queue_id AND lane.tenant_id <> job.tenant_id
          AND NOT tq.paused
          AND tq.num_slots > (
              SELECT in_use FROM tenant_books b WHERE b.tenant_id = lane.tenant_id ORDER BY version DESC LIMIT 1
          )
        LIMIT %(names)s
    ) AS tenants,
    ARRAY(
        SELECT lane.name FROM lane WHERE lane.queue_id <> job.queue_id ORDER BY lane.name LIMIT %(names)s
    ) AS queues
FROM job CROSS JOIN before
