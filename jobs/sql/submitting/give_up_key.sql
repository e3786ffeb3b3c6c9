-- Change: make jobs give up their key, so that identical ones can be stored. Not an arrow: the status stays.
-- Who:    submit, for jobs that cannot be an answer: those older than the window, and the submitting job itself.
-- Locks:  the rows, by id, until the caller's transaction ends. Index: primary key.
UPDATE jobs
SET dedup_key = NULL
FROM (SELECT id FROM jobs WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE) old
WHERE jobs.id = old.id
