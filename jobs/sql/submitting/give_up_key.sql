-- Change: jobs give up their key, so that identical ones may be stored. Not an arrow: the status stays.
-- Who:    submit, for those that it found to be no answer: older than the window, or the very job that asks.
-- Locks:  the rows, by id, until the caller's transaction ends. Index: primary key.
UPDATE jobs
SET dedup_key = NULL
FROM (SELECT id FROM jobs WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE) old
WHERE jobs.id = old.id
