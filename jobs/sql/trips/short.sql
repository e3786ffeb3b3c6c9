-- name: is_suspect
-- Reads:  whether an attempt that a trip did not start waits for a process alone. Who: the feeder of a light pool, in a thread.
--         Locks: none. Index: primary key; failed_attempts_once.
SELECT j.id FROM jobs j
WHERE j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
  AND j.status = 'queued'  -- guard I3
  AND
-- include shared/suspect

-- name: note_in_hand
-- Change: note that these attempts are in hand, so that they do not count as lost messages. Not an arrow, as hand_over_again.
-- Who:    the feeder of a light pool, for suspects that wait for a process alone.
-- Locks:  the rows; it skips locked ones until the next look. Index: primary key; handed_at is not indexed (HOT).
WITH in_hand AS MATERIALIZED (
    SELECT j.id FROM jobs j JOIN unnest(%(ids)s::bigint[], %(attempts)s::int[]) AS h (id, attempt) USING (id, attempt)
    WHERE j.status = 'queued'  -- guard I3
    FOR NO KEY UPDATE OF j SKIP LOCKED
)
UPDATE jobs j
SET handed_at = clock_timestamp()
FROM in_hand
WHERE j.id = in_hand.id
