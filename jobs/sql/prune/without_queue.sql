-- Reads:  at most `batch` jobs, ready or queued, whose queue does not exist: a submit, a retry into another queue, or a claim, and
--         the deletion of that queue do not wait for each other. One that is due later is found when it is ready.
-- Who:    the clock's upkeep, which cancels them: none of them starts. Index: jobs_claim: one look for each queue that has jobs;
--         jobs_one_job_per_slot.
WITH RECURSIVE line AS (
    (SELECT queue_id FROM jobs WHERE ready_at IS NOT NULL ORDER BY queue_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT j.queue_id FROM jobs j
        WHERE j.ready_at IS NOT NULL AND j.queue_id > line.queue_id
        ORDER BY j.queue_id
        LIMIT 1
    )
    FROM line
    WHERE line.queue_id IS NOT NULL
)
SELECT j.id
FROM line
CROSS JOIN LATERAL (
    SELECT id FROM jobs WHERE ready_at IS NOT NULL AND queue_id = line.queue_id LIMIT %(batch)s
) j
WHERE NOT EXISTS (SELECT FROM queues q WHERE q.id = line.queue_id)  -- guard
UNION ALL
SELECT id FROM jobs j
WHERE slot IS NOT NULL AND status = 'queued'
  AND NOT EXISTS (SELECT FROM queues q WHERE q.id = j.queue_id)  -- guard
LIMIT %(batch)s
