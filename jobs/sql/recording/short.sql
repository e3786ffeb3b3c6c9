-- name: end_task
-- Change: how far a task of the recorder is. Who: the recorder, in the transaction that has recorded it. Locks: the row.
UPDATE recorded SET upto = %(upto)s WHERE task = %(task)s

-- name: forget_samples
-- Change: deletes the samples from before a moment. Who: the recorder. Locks: the rows. Index: the primary key.
DELETE FROM samples WHERE at < %(moment)s::timestamptz

-- name: record_sample
-- Change: the sample of a minute. Who: the recorder, under the lock of its row in `recorded`. Locks: none.
INSERT INTO samples (at, tenants, queues, pools, states, fairness)
VALUES (
    %(at)s, %(tenants)s::jsonb, %(queues)s::jsonb, %(pools)s::jsonb, %(states)s::jsonb, %(fairness)s::float8
)
ON CONFLICT (at) DO NOTHING
