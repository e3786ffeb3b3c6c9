-- Arrow:  start, queued -> running.
-- Who:    the worker process that received the message (job, attempt). A duplicate, late or repeated message finds no row.
-- Locks:  the row. Index: primary key.
UPDATE jobs j
-- include shared/start
  AND j.id = %(id)s
  AND j.attempt = %(attempt)s  -- guard I3
RETURNING
-- include shared/started
