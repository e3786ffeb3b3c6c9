-- Reads:  seconds until the clock has something to do at a moment of its own (negative: late); null when there is none.
-- Who:    the clock, before it works: a moment that passes meanwhile is not slept over. Index: jobs_due.
-- A bucket of `rate_limit` tokens that is full at full_at has its next one when all but one of them are missing.
WITH clock AS (SELECT clock_timestamp() AS now),
bucket AS (
    SELECT t.full_at, q.rate_limit, q.rate_window FROM queue_turns t JOIN queues q ON q.id = t.queue_id
    UNION ALL
    SELECT t.full_at, q.rate_limit, q.rate_window FROM tenant_turns t JOIN tenant_queues q USING (tenant_id)
),
moment AS (
    SELECT min(due_at) AS at FROM jobs WHERE due_at IS NOT NULL AND due_at < %(held_until)s
    UNION ALL
    SELECT next.at
    FROM bucket CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT full_at - (rate_limit - 1) * rate_window / rate_limit * interval '1 second' AS at
    ) next
    WHERE next.at > clock.now  -- an earlier one is there, and was to be had
)
SELECT extract(epoch FROM min(moment.at) - max(clock.now))::float8 FROM moment CROSS JOIN clock
