-- Change: reserve the row of this key's answer, unless one younger than `ttl` seconds exists. Returns no row if it exists:
--         then the answer is complete, since the statement waits for a request that is being answered, if only briefly.
-- Who:    the request with that key, in the transaction that carries it out. Locks: the row.
-- Index:  kept_answers_once.
WITH
-- include shared/briefly
asked AS (
    SELECT
        %(tenant_id)s::bigint, %(key)s::text, %(digest)s::text,
        coalesce(%(now)s::timestamptz, statement_timestamp())
    FROM briefly
)
INSERT INTO kept_answers AS kept (tenant_id, key, digest, created_at)
SELECT * FROM asked
ON CONFLICT (tenant_id, key) DO UPDATE
SET digest = excluded.digest, created_at = excluded.created_at, status = NULL, location = '', body = ''
WHERE kept.created_at < excluded.created_at - %(ttl)s * interval '1 second'  -- guard
RETURNING id
