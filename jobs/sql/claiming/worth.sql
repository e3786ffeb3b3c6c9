-- Reads:  whether a dispatch could decide anything now.
-- Who:    a dispatch that was asked for after a commit, before it knocks; its snapshot is younger than that commit (I2). So
--         a transaction that frees a place which this one does not see requests a dispatch that sees this commit.
-- * A fold that is not committed may already have taken a freed slot, while its claim did not see this commit. Then the row of that
--   slot is still there, and there is something to decide.
-- * Otherwise a queue must have room, and a lane or an arrival. If it has not, the arrivals and freed slots of at most a hundred
--   commits wait for one fold.
-- * News of ends waits for a dispatch, which has it read.
-- Index:  the newest version of each turn; by number, from the fold's memory on, as in `fold`; lanes_circle.
WITH
-- include shared/present
room AS (
    SELECT id FROM queue_state
    WHERE NOT paused
      AND coalesce(opened_at <= (SELECT now FROM clock), true)
      AND least(pool_capacity - pool_in_use, concurrency - in_use, tokens) >= 1
)
SELECT
    EXISTS (SELECT FROM untaken CROSS JOIN LATERAL (SELECT FROM freed_slots WHERE xid >= untaken.xid ORDER BY xid LIMIT 1) letter)
    OR EXISTS (SELECT FROM untaken CROSS JOIN LATERAL (SELECT FROM job_ends WHERE xid >= untaken.xid ORDER BY xid LIMIT 1) news)
    OR EXISTS (
        SELECT FROM untaken CROSS JOIN LATERAL (
            SELECT FROM arrivals WHERE xid >= untaken.xid ORDER BY xid OFFSET 99 LIMIT 1
        ) letter
    )
    OR EXISTS (
        SELECT FROM room CROSS JOIN untaken
        WHERE EXISTS (SELECT FROM arrivals a WHERE a.xid >= untaken.xid AND a.queue_id = room.id)
           OR EXISTS (SELECT FROM lanes l WHERE l.queue_id = room.id AND l.state = 'ready')
    ) AS worth
