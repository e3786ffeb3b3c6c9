-- A request over HTTP waits no longer than `lock_wait` for a lock, in this statement and in the rest of its transaction. If it is
-- null, the setting of the session stays. A statement that joins this before it locks has made the setting by then.
briefly AS MATERIALIZED (
    SELECT CASE WHEN %(lock_wait)s::text IS NOT NULL THEN set_config('lock_timeout', %(lock_wait)s::text, true) END
),
