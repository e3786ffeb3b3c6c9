-- The door, between steps 1 and 2, for a statement that reads all books at once: they are joined as sets, which the knock forbids to a pass.
SELECT set_config('enable_hashjoin', 'on', true)
