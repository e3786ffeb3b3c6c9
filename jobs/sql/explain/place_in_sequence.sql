-- Reads:  of a job in a sequence: the job whose turn it is, or that stops the others; the one before it; how many wait before it, and
--         how many in all, each up to `most`. Who: explain. Locks: none.
-- Index:  primary key; jobs_one_of_sequence, jobs_blocked_of_tenant.
SELECT j.sequence AS name, turn.id AS turn_id, turn.status AS turn_status, older.last AS older_id, older.n AS older, waiting.n AS waiting
FROM jobs j
LEFT JOIN LATERAL (
    SELECT one.id, one.status FROM jobs one
    WHERE one.tenant_id = j.tenant_id AND one.sequence BETWEEN j.sequence AND j.sequence
      AND (one.blocked_at IS NULL OR one.waits_for IS NOT NULL)
      AND (one.end_time IS NULL OR (one.died_at IS NOT NULL AND one.sequence_stops))
    ORDER BY one.sequence
    LIMIT 1
) turn ON true
CROSS JOIN LATERAL (
    SELECT max(id) AS last, count(*)::int AS n
    FROM (
        SELECT id FROM jobs
        WHERE tenant_id = j.tenant_id AND sequence BETWEEN j.sequence AND j.sequence AND blocked_at IS NOT NULL AND waits_for IS NULL AND id < j.id
        ORDER BY sequence DESC, id DESC
        LIMIT %(most)s
    ) few
) older
CROSS JOIN LATERAL (
    SELECT count(*)::int AS n
    FROM (
        SELECT FROM jobs
        WHERE tenant_id = j.tenant_id AND sequence BETWEEN j.sequence AND j.sequence AND blocked_at IS NOT NULL AND waits_for IS NULL
        ORDER BY sequence, id
        LIMIT %(most)s
    ) few
) waiting
WHERE j.id = %(id)s AND j.sequence IS NOT NULL
