-- Reads:  whether a running attempt was asked to stop. Who: its holder, fenced. Index: primary key.
SELECT cancel_requested_at IS NOT NULL FROM jobs
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND worker = %(worker)s AND worker_pid = %(pid)s  -- guard I8
