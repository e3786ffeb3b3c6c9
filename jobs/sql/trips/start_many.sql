-- Arrow:  start, queued -> running, of many attempts at once: those of messages (`ids`, `attempts`); and, behind a pass in the same
--         pipeline (`kept`), all that its claim has kept (claim/keep.sql). The nth of all starts in the nth process of `pids`.
--         A suspect starts only if it is one of the first `suspects`: the caller has a process for each of them alone.
-- Who:    the feeder of a light pool, for the processes of its worker. What does not start it handles like a message.
-- Locks:  the rows; not those that another transaction has locked, since the others wait for this answer. Index: primary key.
WITH given AS MATERIALIZED (
    SELECT k.row, (%(pids)s::int[])[g.seat] AS pid
    FROM (
        SELECT g.id, g.attempt, row_number() OVER (ORDER BY kept, nth) AS seat
        FROM (
            SELECT id, attempt, false AS kept, nth
            FROM unnest(%(ids)s::bigint[], %(attempts)s::int[]) WITH ORDINALITY AS called (id, attempt, nth)
            UNION ALL
            SELECT words[2 * nth - 1]::bigint, words[2 * nth]::int, true, nth
            FROM (SELECT string_to_array(nullif(current_setting('jobs.kept', true), ''), ' ') AS words) kept
            CROSS JOIN generate_series(1, cardinality(words) / 2) AS nth
            WHERE %(kept)s
        ) g
    ) g
    CROSS JOIN LATERAL (
        SELECT ctid AS row FROM jobs j
        WHERE id BETWEEN g.id AND g.id
          AND attempt = g.attempt  -- guard I3
          AND NOT (g.seat > %(suspects)s AND
              -- include shared/suspect
          )  -- guard
        ORDER BY id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) k
    WHERE g.seat <= cardinality(%(pids)s::int[])
)
UPDATE jobs j
SET status = 'running',
    worker = %(worker)s,
    worker_pid = g.pid,
    start_time = coalesce(%(now)s::timestamptz, clock_timestamp())
FROM given g CROSS JOIN queues q
WHERE j.ctid = g.row
  AND
-- include shared/start
RETURNING
-- include shared/started
, j.worker_pid
