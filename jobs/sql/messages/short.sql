-- name: give_up_message
-- Change: let other workers take the message again. Who: the worker that took it, long after. Locks: frees that of take_message.
SELECT pg_advisory_unlock(hashtext('jobs.messages'), hashtext(%(text)s))

-- name: hear_messages
-- Change: let this session receive every message. Who: a worker whose broker is this database.
LISTEN jobs_messages

-- name: send_message
-- Change: send the text to every worker of this database. Who: the sender of a process, after the claim has committed.
SELECT pg_notify('jobs_messages', %(text)s)

-- name: take_message
-- Reads:  whether this worker may run the attempt of a message: it has not started, and no other worker took the message.
-- Who:    a worker that received it, and has an idle process. A message that no worker takes is sent again. Index: primary key.
-- Locks:  an advisory lock of the session, which ends with the worker, or by give_up_message.
SELECT pg_try_advisory_lock(hashtext('jobs.messages'), hashtext(%(text)s))
FROM jobs
WHERE id = %(id)s
  AND attempt = %(attempt)s
  AND status = 'queued'
