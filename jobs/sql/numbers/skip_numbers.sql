-- Change: the next job gets a number that is greater by so many than any that was given out here, or that a job has. Returns
--         it. Who: the clock after a failover or restore; an operator. Locks: none; setval waits for nobody.
-- Index:  primary keys.
SELECT setval(sequence, greatest(nextval(sequence), known.most) + %(by)s)
FROM (SELECT pg_get_serial_sequence('jobs', 'id')::regclass AS sequence) jobs_id
CROSS JOIN (
    SELECT greatest((SELECT max(id) FROM jobs), (SELECT max(id) FROM job_history)) AS most
) known
