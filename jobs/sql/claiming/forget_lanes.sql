-- Change: delete the lanes and the books of deleted tenants. Who: the clock, inside the door; elsewhere it deletes nothing.
-- Locks:  the rows; only dispatches write them, so no other transaction waits. Index: primary keys.
WITH forgotten AS (
    DELETE FROM lanes
    WHERE tenant_id = ANY(%(tenants)s)
      AND current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
    RETURNING tenant_id
),
books AS (
    DELETE FROM tenant_books
    WHERE tenant_id = ANY(%(tenants)s)
      AND current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
    RETURNING tenant_id
)
SELECT tenant_id FROM forgotten UNION SELECT tenant_id FROM books
