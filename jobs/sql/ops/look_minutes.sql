-- Reads:  the attempts that ended, by step of time and outcome, and the histogram of how long they had waited.
-- Who:    the operators' pages, at most every half minute. Locks: none. Index: the primary key of job_minutes.
SELECT date_bin(%(step)s::interval, minute, %(since)s::timestamptz) AS at, outcome, sum(attempts)::bigint,
    sum_buckets(wait_buckets, 1)
FROM job_minutes
WHERE minute >= %(since)s::timestamptz
GROUP BY 1, outcome
ORDER BY 1
