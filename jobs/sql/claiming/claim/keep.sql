-- The job that the process which dispatches keeps for itself: the first of its pool. `start_kept` finds it in the session.
CASE
    WHEN pool = nullif(current_setting('jobs.keeps', true), '') AND current_setting('jobs.kept', true) = ''
    THEN set_config('jobs.kept', concat_ws(' ', id, attempt), false)
END AS kept
