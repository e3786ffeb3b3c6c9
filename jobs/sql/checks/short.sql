-- name: find_lane
-- Change: tell the next dispatch about a waiting job whose lane was lost: a repair, which should never be needed.
-- Who:    check. Locks: none. Index: primary key.
WITH arriving AS (
    SELECT queue_id, tenant_id, job_place(priority, id) AS place, 0 AS jobs FROM jobs
    WHERE id = ANY(%(ids)s) AND ready_at IS NOT NULL
)
-- include shared/arrive
SELECT count(*) FROM arriving

-- name: wrong_books
-- Reads:  the books that are wrong: whose, its tenant and queue, how many slots it says (null: it is missing), and how many are in
--         use. In one snapshot books and jobs agree, whatever happens meanwhile. Who: check. Locks: none.
WITH
-- include shared/recounted
SELECT book, tenant_id, queue_id, said, n AS in_use FROM wrong
