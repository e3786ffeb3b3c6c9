-- Change: the progress of a running job. Who: its holder, fenced. Locks: the row. Index: primary key (HOT).
UPDATE jobs
SET progress = %(fraction)s, progress_note = %(note)s
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND worker = %(worker)s AND worker_pid = %(pid)s  -- guard I8
RETURNING id
