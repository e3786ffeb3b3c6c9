-- The door, step 1 of 2: take the only waiting place, or leave. Who: every dispatch.
-- The holder of the waiting place has not taken its snapshot yet, so it will see the work that brought us here: a dispatch that
-- finds it taken may leave (I2). The clock waits without it, so a stalled holder blocks others only briefly.
-- 'jobs.door' lasts for the transaction; the claim reads it, and does nothing outside the door. So do the other settings:
-- * A worker process keeps one of the jobs of its pool (`keeps`) that this pass claims. The claim leaves it in 'jobs.kept'
--   (claim/keep.sql), which outlives the transaction: `start_kept` follows after the commit.
-- * A dispatch that first waits for the answer whether it may stay (`hears`) must not keep the waiting place while it stands still:
--   PostgreSQL ends such a session after a timeout. The clock dispatches in any case.
-- * A pass takes milliseconds. The timeouts end a pass that cannot enter or leave; the clock tries again.
-- * No plan depends on an estimate, nor on what the caller's session says: every read uses an index, in its order, row by row,
--   planned once. To the planner that looks so dear that, with PostgreSQL's default, each claim would be compiled, for 11 s.
SELECT
    set_config(
        'jobs.door',
        CASE WHEN NOT %(in_line)s THEN 'waiting'
             WHEN pg_try_advisory_lock(hashtext('jobs.door'), 1) THEN 'waiting, in line'
             ELSE 'left' END,
        true
    ) <> 'left' AS waits,
    set_config('jobs.keeps', %(keeps)s, true),
    set_config('jobs.kept', '', false),
    CASE WHEN %(hears)s THEN set_config('idle_in_transaction_session_timeout', '5s', true) END,
    set_config('synchronous_commit', 'off', true),
    set_config('lock_timeout', '5s', true),
    set_config('statement_timeout', '30s', true),
    set_config('jit', 'off', true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('enable_memoize', 'off', true),
    set_config('enable_incremental_sort', 'off', true),
    set_config('enable_nestloop', 'on', true),
    set_config('enable_indexscan', 'on', true),
    set_config('enable_indexonlyscan', 'on', true),
    set_config('join_collapse_limit', '8', true),
    set_config('from_collapse_limit', '8', true)
