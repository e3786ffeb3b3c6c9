-- Reads:  the books that are wrong: whose, its tenant and queue, how many slots it says (null: it is missing), and how many are in
--         use. In one snapshot books and jobs agree, whatever happens meanwhile. Who: check. Locks: none.
WITH
-- include shared/recounted
SELECT book, tenant_id, queue_id, said, n FROM wrong
