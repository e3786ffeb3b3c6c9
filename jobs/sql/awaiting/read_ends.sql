-- Arrow:  unblock, blocked -> created, when every job or batch that it waits for has ended as it should, and it is its turn in its
--         sequence; or when the event that it waits for has come; or drop, blocked -> cancelled, when one has not, and the follower's patience is over.
-- Who:    the reader of ends: a dispatch that sees news, one at a time (`hear`); elsewhere it does nothing.
-- Change: the tallies of the batches in the news.
-- Locks:  the jobs and batches that the news is about, and the followers that go on; it skips locked ones, and notes the news
--         again. The tallies, which only the reader of ends writes.
-- Index:  primary keys; job_edges_of_follower, job_edges_until; jobs_blocked_of_tenant, jobs_one_of_sequence; jobs_waiting_for_event,
--         job_events_once.
-- The predecessor's row is locked before its status is read, and marked while it has not ended: so either this statement sees
-- its end, or its end sees the mark, and leaves news (trigger awaited_job_ended).
-- A job of a sequence is stored blocked, and only this statement lets it go. So of two that are stored or revived at the same
-- moment one goes, and none waits for a lock: the index jobs_one_of_sequence would refuse the other.
-- Who tells an event and who begins to wait for it each leave news in their transaction. So the look that follows the later commit
-- sees both, and none of the two waits for a lock. A job that waits for an event has kept its turn in its sequence.
-- Each look decides by the present rows, not by the contents of the news: so a further look does no harm.
WITH
-- include shared/clock
reader AS MATERIALIZED (
    SELECT
    WHERE current_setting('jobs.reader', true) = 'true'  -- guard
),
news AS MATERIALIZED (
    SELECT n.* FROM reader CROSS JOIN LATERAL (SELECT * FROM job_ends ORDER BY id LIMIT %(batch)s) n
),
asked AS MATERIALIZED (  -- the jobs and the batches of the news, and those whose followers have lost their patience
    SELECT job_id AS id FROM news WHERE job_id IS NOT NULL
    UNION
    SELECT batch_id FROM news WHERE batch_id IS NOT NULL
    UNION
    SELECT e.predecessor_id FROM reader CROSS JOIN clock CROSS JOIN LATERAL (
        SELECT predecessor_id FROM job_edges WHERE until <= clock.now ORDER BY until LIMIT %(batch)s
    ) e
),
here AS MATERIALIZED (
    SELECT j.id, j.status, j.end_time IS NOT NULL AS ended, j.awaited
    FROM asked JOIN jobs j ON j.id = asked.id
    FOR NO KEY UPDATE OF j SKIP LOCKED
),
batch AS MATERIALIZED (  -- `added` is the newest, since the row is locked; `closed` is of the snapshot, as the news are
    SELECT b.id, b.added, seen.closed_at IS NOT NULL AS closed
    FROM asked JOIN batches seen ON seen.id = asked.id JOIN batches b ON b.id = seen.id
    FOR NO KEY UPDATE OF b SKIP LOCKED
),
tallied AS (
    UPDATE batch_tallies t
    SET success = t.success + d.success, error = t.error + d.error, dead = t.dead + d.dead, cancelled = t.cancelled + d.cancelled
    FROM (
        SELECT id, sum(success) AS success, sum(error) AS error, sum(dead) AS dead, sum(cancelled) AS cancelled
        FROM (
            SELECT batch_id AS id, success, error, dead, cancelled FROM news WHERE batch_id IS NOT NULL
            UNION ALL
            SELECT id, 0, 0, 0, 0 FROM batch
        ) each_one
        GROUP BY id
    ) d
    WHERE t.batch_id = d.id
    RETURNING t.batch_id, t.success, t.success + t.error + t.dead + t.cancelled AS ended
),
predecessor AS MATERIALIZED (
    SELECT id, status, ended FROM here
    UNION ALL  -- a batch has ended when it is closed, and as many have ended as were added
    SELECT b.id, CASE WHEN t.success = b.added THEN 'success' ELSE 'error' END,
        b.closed AND t.ended = b.added
    FROM batch b JOIN tallied t ON t.batch_id = b.id
    UNION ALL
    SELECT a.id, coalesce((SELECT h.status FROM job_history h WHERE h.id = a.id LIMIT 1), 'gone'), true
    FROM asked a
    WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.id = a.id) AND NOT EXISTS (SELECT FROM batches b WHERE b.id = a.id)
),
edge AS MATERIALIZED (
    SELECT p.id AS predecessor_id, p.status, e.follower_id, e.patience,
        CASE
            WHEN NOT p.ended THEN 'open'
            WHEN p.status = 'success' OR e.whatever THEN 'met'
            WHEN coalesce(e.until, clock.now + e.patience * interval '1 second') > clock.now THEN 'patient'
            ELSE 'failed'
        END AS fate
    FROM predecessor p
    CROSS JOIN clock
    CROSS JOIN LATERAL (  -- only those for which something changes
        SELECT * FROM job_edges
        WHERE predecessor_id = p.id
          AND CASE
              WHEN NOT p.ended THEN until IS NOT NULL
              ELSE p.status = 'success' OR until IS NULL OR until <= clock.now
          END
        ORDER BY follower_id
        LIMIT %(batch)s
    ) e
),
first AS MATERIALIZED (  -- the first that waits in each sequence of the news
    SELECT j.id
    FROM (SELECT DISTINCT tenant_id, sequence FROM news WHERE sequence IS NOT NULL) changed
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE tenant_id = changed.tenant_id AND sequence BETWEEN changed.sequence AND changed.sequence AND blocked_at IS NOT NULL
        ORDER BY sequence, id  -- so only one index has this order, whatever the statistics say
        LIMIT 1
    ) j
),
listener AS MATERIALIZED (
    SELECT changed.tenant_id, changed.event, j.id
    FROM (SELECT DISTINCT tenant_id, event FROM news WHERE event IS NOT NULL) changed
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE tenant_id = changed.tenant_id AND waits_for BETWEEN changed.event AND changed.event
          AND blocked_at IS NOT NULL
        ORDER BY waits_for, id  -- as in `first`
        LIMIT %(batch)s
    ) j
),
told AS MATERIALIZED (  -- of each job that may go on: how many of its edges are met here, or by which job it fails
    SELECT id, sum(met)::int AS met, max(failed_by) AS failed_by
    FROM (
        SELECT follower_id AS id, 1 AS met, NULL::bigint AS failed_by FROM edge WHERE fate = 'met'
        UNION ALL
        SELECT follower_id, 0, predecessor_id FROM edge WHERE fate = 'failed'
        UNION ALL
        SELECT job_id, 0, NULL FROM news WHERE job_id IS NOT NULL
        UNION ALL
        SELECT id, 0, NULL FROM first
        UNION ALL
        SELECT id, 0, NULL FROM listener
    ) each_one
    GROUP BY id
),
turning AS MATERIALIZED (
    SELECT j.id, told.failed_by, event.document AS event
    FROM told
    CROSS JOIN clock
    CROSS JOIN LATERAL (  -- by its number: with statistics of a time when none waited, a join would read all that wait
        SELECT id, tenant_id, sequence, blocked_at, waits_for FROM jobs WHERE id BETWEEN told.id AND told.id ORDER BY id LIMIT 1
    ) j
    CROSS JOIN LATERAL (  -- one more than are met would do
        SELECT count(*)::int AS edges FROM (SELECT FROM job_edges WHERE follower_id = told.id LIMIT told.met + 1) few
    ) open
    LEFT JOIN LATERAL (  -- it is under way, or is dead and stops the others
        SELECT one.id FROM jobs one
        WHERE one.tenant_id = j.tenant_id AND one.sequence BETWEEN j.sequence AND j.sequence
          AND (one.blocked_at IS NULL OR one.waits_for IS NOT NULL)
          AND (one.end_time IS NULL OR (one.died_at IS NOT NULL AND one.sequence_stops))
        ORDER BY one.sequence
        LIMIT 1
    ) turn ON true
    LEFT JOIN LATERAL (
        SELECT older.id FROM jobs older
        WHERE older.tenant_id = j.tenant_id AND older.sequence BETWEEN j.sequence AND j.sequence AND older.blocked_at IS NOT NULL
          AND older.id < j.id
        ORDER BY older.sequence, older.id
        LIMIT 1
    ) older ON true
    LEFT JOIN LATERAL (
        SELECT jsonb_build_object('name', e.name, 'payload', e.payload, 'told_at', e.told_at) AS document FROM job_events e
        WHERE e.name = j.waits_for
          AND e.tenant_id = j.tenant_id  -- guard I8
          AND e.kept_until > clock.now  -- guard
    ) event ON true
    WHERE j.blocked_at IS NOT NULL
      AND (j.waits_for IS NULL OR event.document IS NOT NULL)  -- guard
      AND (told.failed_by IS NOT NULL OR told.met = open.edges)  -- guard
      AND (told.failed_by IS NOT NULL OR j.waits_for IS NOT NULL OR turn.id IS NULL)  -- guard
      AND (told.failed_by IS NOT NULL OR j.waits_for IS NOT NULL OR older.id IS NULL)  -- guard
),
held AS MATERIALIZED (
    SELECT j.id, turning.failed_by, turning.event
    FROM turning
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE id BETWEEN turning.id AND turning.id
          AND status = 'blocked'  -- guard
        ORDER BY id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) j
),
changed AS (  -- one update: a job may wait, and be waited for
    UPDATE jobs j
    SET status = CASE WHEN NOT c.turns THEN j.status WHEN c.failed_by IS NULL THEN 'created' ELSE 'cancelled' END,
        awaited = j.awaited OR c.marked,
        blocked_at = CASE WHEN NOT c.turns THEN j.blocked_at END,
        waits_for = CASE WHEN held.event IS NULL THEN j.waits_for END,
        event = coalesce(held.event, j.event),
        expires_at = CASE WHEN held.event IS NULL THEN j.expires_at END,
        ready_at = CASE WHEN c.turns AND c.failed_by IS NULL THEN clock.now ELSE j.ready_at END,
        end_time = CASE WHEN c.turns AND c.failed_by IS NOT NULL THEN clock.now ELSE j.end_time END,
        reason = CASE WHEN c.turns AND c.failed_by IS NOT NULL THEN format(
            '%%s %%s, which it waited for, %%s', CASE WHEN b.id IS NULL THEN 'job' ELSE 'batch' END, c.failed_by,
            CASE WHEN p.status = 'gone' THEN 'is gone' WHEN b.id IS NOT NULL THEN 'did not succeed' ELSE 'ended as ' || p.status END
        ) ELSE j.reason END
    FROM (
        SELECT id, bool_or(marked) AS marked, bool_or(turns) AS turns, max(failed_by) AS failed_by
        FROM (
            SELECT id, true AS marked, false AS turns, NULL::bigint AS failed_by FROM here
            WHERE NOT ended AND NOT awaited AND EXISTS (SELECT FROM job_edges e WHERE e.predecessor_id = here.id)
            UNION ALL
            SELECT id, false, true, failed_by FROM held
        ) each_one
        GROUP BY id
    ) c
    CROSS JOIN clock
    LEFT JOIN held ON held.id = c.id
    LEFT JOIN predecessor p ON p.id = c.failed_by
    LEFT JOIN batch b ON b.id = c.failed_by
    WHERE j.id = c.id
    RETURNING j.id, j.attempt, j.tenant_id, j.queue_id, j.priority, j.status, c.turns
),
arriving AS (
    SELECT queue_id, tenant_id, CASE WHEN status = 'created' THEN job_place(priority, id) END AS place,
        CASE WHEN status = 'created' THEN 0 ELSE -1 END AS jobs
    FROM changed WHERE turns
)
-- include shared/arrive
, met AS (
    DELETE FROM job_edges e USING edge
    WHERE e.predecessor_id = edge.predecessor_id AND e.follower_id = edge.follower_id AND edge.fate = 'met'
),
dropped AS (  -- also the edges of followers that were cancelled or revived: they would come first at each look
    DELETE FROM job_edges WHERE follower_id IN (
        SELECT id FROM changed WHERE turns AND status = 'cancelled'
        UNION ALL
        SELECT follower_id FROM edge
        WHERE fate = 'failed' AND NOT EXISTS (  -- by its number, too
            SELECT FROM jobs j WHERE j.id = edge.follower_id AND j.blocked_at IS NOT NULL OFFSET 0
        )
    )
),
waits AS (  -- a revival in time ends the patience, until the job ends again
    UPDATE job_edges e
    SET until = CASE edge.fate WHEN 'patient' THEN clock.now + edge.patience * interval '1 second' END
    FROM edge CROSS JOIN clock
    WHERE e.predecessor_id = edge.predecessor_id AND e.follower_id = edge.follower_id AND edge.fate IN ('patient', 'open')
),
taken AS (
    DELETE FROM job_ends WHERE id IN (SELECT id FROM news)
),
again AS (
    INSERT INTO job_ends (xid, job_id)
    SELECT pg_current_xact_id()::text::bigint, id
    FROM (
        SELECT a.id FROM asked a
        WHERE NOT EXISTS (SELECT FROM predecessor p WHERE p.id = a.id)
        UNION
        SELECT coalesce(t.failed_by, t.id) FROM turning t
        WHERE NOT EXISTS (SELECT FROM held h WHERE h.id = t.id)
    ) locked
    RETURNING id
),
crowded AS (  -- the others of very many followers, or of very many jobs that wait for one event
    INSERT INTO job_ends (xid, job_id, tenant_id, event)
    SELECT pg_current_xact_id()::text::bigint, id, tenant_id, event
    FROM (
        SELECT predecessor_id AS id, NULL::bigint AS tenant_id, NULL AS event, count(*) AS n FROM edge GROUP BY predecessor_id
        UNION ALL
        SELECT NULL, tenant_id, event, count(*) FROM listener GROUP BY tenant_id, event
    ) seen
    WHERE n >= %(batch)s  -- guard
)
SELECT id, attempt, tenant_id, status FROM changed WHERE turns
UNION ALL
SELECT NULL, NULL, NULL, id::text FROM again
