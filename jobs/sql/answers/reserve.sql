-- Change: reserve the row of this key's answer, unless one younger than `ttl` seconds exists. Returns no row if it exists:
--         then the answer is complete, since the statement waits for a request that is being answered.
-- Who:    the request with that key, in the transaction that carries it out. Locks: the row.
-- Index:  kept_answers_once; kept_answers_old, to delete ten expired answers.
WITH
-- include shared/clock
old AS (
    DELETE FROM kept_answers
    WHERE id = ANY(ARRAY(
        SELECT k.id
        FROM kept_answers k
        CROSS JOIN clock
        WHERE k.created_at < clock.now - %(ttl)s * interval '1 second'
          AND NOT (k.tenant_id = %(tenant_id)s AND k.key = %(key)s)
        ORDER BY k.created_at
        LIMIT 10
        FOR UPDATE OF k SKIP LOCKED
    ))
)
INSERT INTO kept_answers AS kept (tenant_id, key, digest, created_at)
SELECT %(tenant_id)s, %(key)s, %(digest)s, clock.now
FROM clock
ON CONFLICT (tenant_id, key) DO UPDATE
SET digest = excluded.digest, created_at = excluded.created_at, status = NULL, location = '', body = ''
WHERE kept.created_at < excluded.created_at - %(ttl)s * interval '1 second'  -- guard
RETURNING id
