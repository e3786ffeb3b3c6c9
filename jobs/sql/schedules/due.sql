-- Reads:  the due schedules, the longest due first, whether the last job of each is still under way, and what was missed.
-- Who:    the leading clock. Locks: the schedules, until its transaction ends; it skips locked ones until later.
-- Index:  schedules_next, only the due entries, however many schedules exist.
WITH
-- include shared/clock
-- include shared/missed
due AS MATERIALIZED (
    SELECT s.* FROM schedules s
    WHERE s.next_at <= (SELECT now FROM clock)  -- guard I10
    ORDER BY s.next_at
    LIMIT %(batch)s
    FOR NO KEY UPDATE SKIP LOCKED  -- one that two leaders meet is the first one's
)
SELECT
    s.id, s.tenant_id, s.by_tenant, s.source_type, s.source_id, s.source_method, s.args::text AS args,
    s.queue, s.priority, s.every, s.cron, s.tz, s.jitter, s.starts_at, s.ends_at, s.catch_up, s.overlap, s.next_due,
    s.last_job_id,
    EXISTS (SELECT FROM jobs j WHERE j.id = s.last_job_id AND j.end_time IS NULL) AS under_way,
    clock.now, missed.upto AS missed_upto
FROM due s CROSS JOIN clock CROSS JOIN missed
ORDER BY s.next_at
