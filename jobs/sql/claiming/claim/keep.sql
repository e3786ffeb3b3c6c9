-- The jobs that the caller keeps, in the order of the claim, for `start_kept` or `start_many` in the session: a process that
-- dispatches keeps the first of its pool; a feeder, which claims for the seats of its worker, all of them.
CASE
    WHEN pool = nullif(current_setting('jobs.keeps', true), '') AND (current_setting('jobs.kept', true) = '' OR %(feeder)s::uuid IS NOT NULL)
    THEN set_config('jobs.kept', concat_ws(' ', nullif(current_setting('jobs.kept', true), ''), id, attempt), false)
END AS kept
