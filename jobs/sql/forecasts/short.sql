-- name: ended_since
-- Reads:  the attempts that ended after a moment, the newest first, at most `most`. Who: the recorder. Locks: none.
-- Index:  attempts_ended.
SELECT
    ended_at AS at, tenant_id, queue_id, source_type || '.' || source_method AS job_type,
    extract(epoch FROM waited_since)::float8 AS ready_at, extract(epoch FROM queued_at)::float8 AS claimed_at,
    extract(epoch FROM start_time)::float8 AS started_at, extract(epoch FROM ended_at)::float8 AS ended_at,
    hashtextextended(worker::text, worker_pid::bigint) AS process
FROM attempts
WHERE ended_at > %(moment)s::timestamptz  -- guard
ORDER BY ended_at DESC
LIMIT %(most)s

-- name: has_line
-- Reads:  whether any job is in line. Who: the recorder, before it looks ahead. Locks: none. Index: all of the lanes; arrivals.
WITH
-- include shared/in_line
always AS (SELECT)
SELECT EXISTS (SELECT FROM in_line)

-- name: open_predictions
-- Reads:  the predictions whose jobs had not started, and their outcomes: the seconds after which the job started (null: not yet),
--         and whether the prediction cannot be judged, since a person or a pause intervened. Oldest first, at most `most`.
-- Who:    the recorder, under the lock of its row in `recorded`. Locks: none. Index: predictions_open; primary keys.
SELECT
    p.id, p.kind, p.made_at, p.said_50, p.said_90, p.held_50, p.held_90, clock.now,
    CASE
        WHEN j.start_time >= p.made_at AND j.status <> 'queued' THEN extract(epoch FROM j.start_time - p.made_at)::float8
    END AS started,
    coalesce(
        NOT coalesce(j.start_time >= p.made_at AND j.status <> 'queued', false)
        AND (j.status NOT IN ('created', 'queued') OR j.status = 'created' AND (q.paused OR t.paused OR t.num_slots = 0)),
        true
    ) AS void
FROM (
    SELECT * FROM predictions
    WHERE started IS NULL
      AND NOT void  -- guard
    ORDER BY job_id
    LIMIT %(most)s
) p
CROSS JOIN LATERAL (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) clock
LEFT JOIN jobs j ON j.id = p.job_id
LEFT JOIN queues q ON q.id = j.queue_id
LEFT JOIN tenant_queues t ON t.tenant_id = j.tenant_id
ORDER BY p.made_at
