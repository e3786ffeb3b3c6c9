-- A request over HTTP waits no longer for a lock, in this statement and in the rest of its transaction. Others, whose `lock_wait`
-- is null, wait as their session says. Who joins it before the lock has read it by then.
briefly AS MATERIALIZED (
    SELECT CASE WHEN %(lock_wait)s::text IS NOT NULL THEN set_config('lock_timeout', %(lock_wait)s::text, true) END
),
