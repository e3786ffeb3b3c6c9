-- Change: none of rows. Says that the caller, a worker process, keeps one of the jobs of its pool that this pass claims.
-- Who:    a dispatch of a worker process, at the begin of its pass. The claim leaves the job in 'jobs.kept' (claim/keep.sql),
--         which outlives the transaction: `start_kept` follows after the commit.
SELECT set_config('jobs.keeps', %(pool)s, true), set_config('jobs.kept', '', false)
