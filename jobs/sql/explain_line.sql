-- Reads:  a waiting job's place in its lane (its tenant's jobs in its queue), from 1, and who else waits for the same
--         workers: names, the first few. No row if it does not wait. Changes nothing, locks nothing.
-- Who:    explain.
-- Index:  jobs_claim, each of its walks bounded: at most `most` jobs before it are counted, `probes` users and tenants looked at.
-- The order of claim.sql: priority, then id; jobs of a user who may start no more are passed over; its loose index scans, with
-- BETWEEN for the reason told there. Change both.
WITH RECURSIVE
job AS MATERIALIZED (
    SELECT j.id, j.tenant_id, j.queue_id, j.user_key, j.priority, q.pool, tq.user_slots
    FROM jobs j
    JOIN queues q ON q.id = j.queue_id
    LEFT JOIN tenant_queues tq ON tq.tenant_id = j.tenant_id
    WHERE j.id = %(id)s AND j.ready_at IS NOT NULL
),
held AS MATERIALIZED (SELECT tenant_id, queue_id, user_key FROM jobs WHERE slot IS NOT NULL),
person AS (
    SELECT (SELECT j.user_key FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = job.queue_id AND j.tenant_id = job.tenant_id
            ORDER BY j.user_key LIMIT 1), 1 AS nth
    FROM job
    UNION ALL
    SELECT (SELECT j.user_key FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = job.queue_id AND j.tenant_id = job.tenant_id
              AND j.user_key > person.user_key
            ORDER BY j.user_key LIMIT 1), nth + 1
    FROM person CROSS JOIN job WHERE person.user_key IS NOT NULL AND nth < %(probes)s
),
before AS (
    SELECT count(*) AS n FROM (
        SELECT FROM person
        CROSS JOIN job
        CROSS JOIN LATERAL (
            SELECT FROM jobs j
            WHERE j.ready_at IS NOT NULL
              AND j.queue_id = job.queue_id AND j.tenant_id = job.tenant_id AND j.user_key = person.user_key
              AND (j.priority, j.id) < (job.priority, job.id)
            ORDER BY j.priority, j.id
            LIMIT %(most)s
        ) j
        WHERE person.user_key IN ('', job.user_key)
           OR job.user_slots IS NULL
           OR job.user_slots > (
               SELECT count(*) FROM held h WHERE h.tenant_id = job.tenant_id AND h.user_key = person.user_key
           )
        LIMIT %(most)s
    ) j
),
neighbour AS (
    SELECT (SELECT j.tenant_id FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id BETWEEN job.queue_id AND job.queue_id
            ORDER BY j.queue_id, j.tenant_id LIMIT 1), 1 AS nth
    FROM job
    UNION ALL
    SELECT (SELECT j.tenant_id FROM jobs j
            WHERE j.ready_at IS NOT NULL
              AND (j.queue_id, j.tenant_id) > (job.queue_id, neighbour.tenant_id) AND j.queue_id <= job.queue_id
            ORDER BY j.queue_id, j.tenant_id LIMIT 1), nth + 1
    FROM neighbour CROSS JOIN job WHERE neighbour.tenant_id IS NOT NULL AND nth < %(probes)s
)
SELECT
    before.n + 1 AS place,
    ARRAY(
        SELECT t.name FROM neighbour n
        JOIN tenants_tenant t ON t.id = n.tenant_id
        JOIN tenant_queues tq ON tq.tenant_id = n.tenant_id
        WHERE n.tenant_id <> job.tenant_id
          AND NOT tq.paused
          AND tq.num_slots > (SELECT count(*) FROM held h WHERE h.tenant_id = n.tenant_id)
        LIMIT %(names)s
    ) AS tenants,
    ARRAY(
        SELECT q.name FROM queues q
        WHERE q.pool = job.pool AND q.id <> job.queue_id
          AND NOT q.paused
          AND (q.concurrency IS NULL OR q.concurrency > (SELECT count(*) FROM held h WHERE h.queue_id = q.id))
          AND (  -- not EXISTS: as a join, it would read the whole line
              SELECT j.queue_id FROM jobs j
              WHERE j.ready_at IS NOT NULL AND j.queue_id BETWEEN q.id AND q.id
              ORDER BY j.queue_id, j.tenant_id LIMIT 1
          ) IS NOT NULL
        ORDER BY q.name
        LIMIT %(names)s
    ) AS queues
FROM job CROSS JOIN before
