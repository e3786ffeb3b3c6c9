-- name: give_up_message
-- Change: let other workers take the message again. Who: the worker that took it, long after. Locks: frees that of take_message.
SELECT pg_advisory_unlock(hashtext('jobs.messages'), hashtext(%(text)s))

-- name: hear_messages
-- Change: let this session receive every message. Who: a worker whose broker is this database.
LISTEN jobs_messages

-- name: hear_rings
-- Change: let this session receive the rings for light pools. Who: their feeders.
LISTEN jobs_bell

-- name: ring
-- Change: ring for light pools. Who: a dispatch that found work for free seats of theirs; it is outside its pass, whose commit
--         would otherwise wait for the lock that each NOTIFY takes. A lost ring costs a second: the feeders look then.
SELECT set_config('synchronous_commit', 'off', true), pg_notify('jobs_bell', pool) FROM unnest(%(pools)s::text[]) AS pool

-- name: ring_to_stop
-- Change: ring for the light pools in which these jobs run: their feeders look which attempts were asked to stop. Who: the
--         transaction that asked; the ring comes with its commit. Index: primary key.
SELECT pg_notify('jobs_bell', %(prefix)s || pool || ' stop')
FROM (
    SELECT DISTINCT pool FROM workers
    WHERE kind = 'light'
      AND id = ANY(ARRAY(SELECT worker FROM jobs WHERE id = ANY(%(ids)s::bigint[])))
) w

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
