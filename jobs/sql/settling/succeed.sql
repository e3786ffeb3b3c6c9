-- Arrow:  succeed, running -> success. It frees the slot.
-- Who:    its holder, fenced: a stale holder, of an earlier attempt or in another process, changes nothing.
-- Locks:  the row. Index: primary key.
WITH
-- include shared/clock
before AS MATERIALIZED (SELECT slot FROM jobs WHERE id = %(id)s),
ended AS (
    -- include holder/succeeded
)
-- include holder/freed
