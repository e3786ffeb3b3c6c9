-- Reads:  how many jobs of each type are held, since the type is paused; among the first `most` held jobs.
-- Who:    the operators' pages. Locks: none. Index: jobs_due.
SELECT source_type, source_method, count(*)::int
FROM (
    SELECT source_type, source_method FROM jobs
    WHERE due_at IS NOT NULL AND due_at >= %(held_until)s
    ORDER BY due_at LIMIT %(most)s
) held
GROUP BY source_type, source_method
