-- The end of a dispatch within the caller's transaction: what follows in it is outside the door.
SELECT set_config('jobs.door', 'left', true)
