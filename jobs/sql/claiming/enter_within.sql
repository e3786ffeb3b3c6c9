-- The door for a dispatch within the caller's transaction, which is a test's: no other transaction sees its jobs.
-- It forgets what earlier dispatches saw: otherwise the fold would think that it has seen this transaction's rows.
-- It sets no planner's settings, since they would last until the end of the transaction.
WITH forgotten AS (DELETE FROM door)
SELECT set_config('jobs.door', 'waiting', true), pg_advisory_xact_lock(hashtext('jobs.door'), 0)
