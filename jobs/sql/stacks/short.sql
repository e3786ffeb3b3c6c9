-- name: ask_stack
-- Change: ask for the stack of the body of a running job. Not an arrow: its worker answers. Who: an operator.
-- Locks:  none. Index: primary key.
INSERT INTO stacks (job_id, attempt)
SELECT j.id, j.attempt FROM jobs j
WHERE j.id = %(id)s
  AND j.status = 'running'  -- guard
RETURNING id, attempt, (SELECT tenant_id FROM jobs j WHERE j.id = %(id)s)

-- name: answer_stack
-- Change: answer the questions for the stack of an attempt. Who: the parent of its process; `running_here` has told it of them.
-- Locks:  their rows. Index: stacks_of_job.
UPDATE stacks
SET answered_at = clock_timestamp(), text = %(text)s, note = %(note)s
WHERE job_id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND answered_at IS NULL  -- guard
