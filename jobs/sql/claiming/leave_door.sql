-- What follows in this transaction is outside the door: after a dispatch within the caller's, or where a session only plans.
SELECT set_config('jobs.door', 'left', true)
