-- Reads:  whether a dispatch could decide anything now.
-- Who:    a dispatch that was asked for after a commit, before it knocks; its snapshot is younger than that commit (I2). So
--         whoever frees a place that it does not see makes a dispatch that sees this commit.
-- * What has ended may be taken already by a fold that is not committed, and whose claim did not see this commit: its letters
--   are still there, and then there is something to decide.
-- * So there is if a worker drains or is silent, whose jobs take no processes; and if many arrivals wait for a fold.
-- * Otherwise a pool needs a free process, and a lane or an arrival of one of its queues.
-- Index:  by number, from the fold's memory on, as in `fold`; lanes_circle; jobs_in_use.
WITH
-- include shared/clock
-- include shared/live_pools
since AS MATERIALIZED (  -- the numbers of the transactions whose letters no fold has seen: from one on, and some before
    SELECT coalesce(d.unseen, '{}') AS unseen,
        CASE WHEN d.since <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint THEN d.since ELSE 0 END AS xid
    FROM (SELECT) always
    LEFT JOIN LATERAL (SELECT since, unseen FROM door ORDER BY version DESC LIMIT 1) d ON true
),
free_pool AS MATERIALIZED (
    SELECT p.pool FROM live_pool p
    WHERE p.processes > (
        SELECT count(*) FROM queues q JOIN (
            SELECT queue_id, worker FROM jobs WHERE slot IS NOT NULL ORDER BY ticket
        ) j ON j.queue_id = q.id
        WHERE q.pool = p.pool AND (j.worker IS NULL OR j.worker IN (SELECT id FROM live_worker))
    )
)
SELECT
    EXISTS (SELECT FROM since CROSS JOIN LATERAL (
        SELECT FROM freed_slots WHERE xid >= coalesce(since.xid, 0) ORDER BY xid LIMIT 1
    ) letter)
    OR EXISTS (SELECT FROM since CROSS JOIN unnest(since.unseen) AS unseen (xid) CROSS JOIN LATERAL (
        SELECT FROM freed_slots f WHERE f.xid BETWEEN unseen.xid AND unseen.xid AND f.xid < since.xid ORDER BY f.xid LIMIT 1
    ) letter)
    OR EXISTS (
        SELECT FROM workers w CROSS JOIN clock
        WHERE w.gone_at IS NULL AND w.id NOT IN (SELECT id FROM live_worker)
    )
    OR EXISTS (SELECT FROM since CROSS JOIN LATERAL (
        SELECT FROM arrivals WHERE xid >= coalesce(since.xid, 0) ORDER BY xid OFFSET 99 LIMIT 1
    ) letter)
    OR EXISTS (
        SELECT FROM free_pool p JOIN queues q ON q.pool = p.pool CROSS JOIN since
        WHERE EXISTS (SELECT FROM arrivals a WHERE a.xid >= coalesce(since.xid, 0) AND a.queue_id = q.id)
           OR EXISTS (SELECT FROM arrivals a WHERE a.xid = ANY(since.unseen) AND a.queue_id = q.id)
           OR EXISTS (SELECT FROM lanes l WHERE l.queue_id = q.id AND l.state = 'ready')
    ) AS worth
