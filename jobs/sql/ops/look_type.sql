-- Reads:  the attempts of a job type that ended, by step of time and outcome: their seconds, and the histograms of how long they
--         ran and had waited. Who: the operators' page of that type, kept for half a minute. Locks: none.
-- Index:  the primary key of job_minutes.
SELECT date_bin(%(step)s::interval, minute, %(since)s::timestamptz) AS at, outcome,
    sum(attempts)::bigint AS attempts, sum(run_seconds) AS run_seconds,
    -- include shared/times_added
FROM job_minutes
WHERE minute >= %(since)s::timestamptz AND minute < %(until)s::timestamptz
  AND source_type = %(source_type)s AND source_method = %(source_method)s
GROUP BY 1, outcome
ORDER BY 1
