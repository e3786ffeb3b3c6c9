-- Reads:  seconds until the next moment: a due job, one that expires, a token of a rate limit, the end of a hold or of a
--         follower's patience (negative: late); null if there is none.
-- Who:    the clock, before its work, so that a moment that passes during the work is not missed.
-- Index:  jobs_due; jobs_expiring; lanes_opening; holds_until; job_edges_until; the newest turn of each queue. Past tokens do not count: the
--         present dispatch uses them.
WITH
-- include shared/clock
moment AS (
    SELECT min(due_at) AS at FROM jobs WHERE due_at IS NOT NULL AND due_at < %(held_until)s
    UNION ALL
    SELECT min(expires_at) FROM jobs
    WHERE expires_at IS NOT NULL AND (due_at IS NOT NULL OR ready_at IS NOT NULL OR blocked_at IS NOT NULL)
    UNION ALL
    SELECT next.at FROM clock CROSS JOIN LATERAL (
        SELECT opens_at AS at FROM lanes WHERE opens_at > clock.now ORDER BY opens_at LIMIT 1
    ) next
    UNION ALL
    SELECT next.at FROM clock CROSS JOIN LATERAL (  -- the end of a hold
        SELECT until AS at FROM holds WHERE until > clock.now ORDER BY until LIMIT 1
    ) next
    UNION ALL
    SELECT next.at FROM clock CROSS JOIN LATERAL (  -- the end of a follower's patience
        SELECT until AS at FROM job_edges WHERE until > clock.now ORDER BY until LIMIT 1
    ) next
    UNION ALL
    SELECT next.at
    FROM (SELECT id, rate_limit, rate_window FROM queues WHERE rate_limit IS NOT NULL OFFSET 0) q
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT rate_full_at(q.rate_limit, q.rate_window, t.full_at, t.full_limit, t.full_window, clock.now) AS full_at
        FROM queue_turns t WHERE t.queue_id = q.id ORDER BY version DESC LIMIT 1
    ) t
    CROSS JOIN LATERAL (SELECT rate_next_at(q.rate_limit, q.rate_window, t.full_at) AS at) next
    WHERE next.at > clock.now
)
SELECT extract(epoch FROM min(moment.at) - max(clock.now))::float8 FROM moment CROSS JOIN clock
