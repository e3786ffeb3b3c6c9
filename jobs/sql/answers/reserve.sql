-- Change: reserve the row of this key's answer, unless one younger than `ttl` seconds exists. Returns no row if it exists:
--         then the answer is complete, since the statement waits for a request that is being answered.
-- Who:    the request with that key, in the transaction that carries it out. Locks: the row.
-- Index:  kept_answers_once.
INSERT INTO kept_answers AS kept (tenant_id, key, digest, created_at)
VALUES (%(tenant_id)s, %(key)s, %(digest)s, coalesce(%(now)s::timestamptz, statement_timestamp()))
ON CONFLICT (tenant_id, key) DO UPDATE
SET digest = excluded.digest, created_at = excluded.created_at, status = NULL, location = '', body = ''
WHERE kept.created_at < excluded.created_at - %(ttl)s * interval '1 second'  -- guard
RETURNING id
