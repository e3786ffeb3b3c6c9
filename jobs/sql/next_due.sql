-- Reads:  seconds until the next scheduled job is due; null when there is none. Who: the clock. Index: jobs_due.
SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM jobs WHERE due_at IS NOT NULL
