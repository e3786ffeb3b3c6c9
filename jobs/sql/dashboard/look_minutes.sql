-- Reads:  the attempts that ended, by minute and outcome, and the histogram of how long they had waited.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of job_minutes.
SELECT minute, outcome, sum(attempts)::bigint, sum_buckets(wait_buckets, 1)
FROM job_minutes
WHERE minute >= %(since)s::timestamptz
GROUP BY minute, outcome
ORDER BY minute
