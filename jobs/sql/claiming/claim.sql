-- Arrow:  claim, created -> queued: takes a slot of the tenant, attempt + 1.
-- Who:    a dispatch, inside the door, after its fold; elsewhere it claims nothing. The books of the lanes, tenants and queues
--         say what is in use (I1): each claim adds to them, each fold takes off what has ended (docs/adr/0030).
-- Locks:  the claimed rows. It skips rows that others have locked and takes later jobs of the same lane. If there are too
--         few, the next passes skip the lane. Only dispatches write lanes, turns and books, so it never waits for them.
-- Index:  queue_turns_awake; jobs_claim, from the head of each visited lane; lanes_circle; the newest version of each book.
-- Cost:   depends on the room to fill; not on running, waiting or ended jobs, on lanes, on the users of a lane, on the slots of
--         a tenant or on idle queues (I9). It reads two rows of each queue that is awake. No plan depends on an estimate: each
--         read of a growing table has a LIMIT in a LATERAL, and an ORDER BY that only one index has; rows are written by their
--         ctid.
-- Twin:   `jobs/allocation` decides the same in memory, for forecasts and what-if. When you change a chapter, change it, too;
--         tests/integration/store/test_world.py compares them after every pass.
-- Each limit cuts the rows that the previous one left. So a pass claims at least one job if any may be claimed, but perhaps
-- not all: `more` then says that another pass may find room for another job.
WITH RECURSIVE
-- include shared/clock
-- include shared/live_pools
-- include claim/room
-- include claim/walk
-- include claim/take
-- include claim/write_down
SELECT id, attempt, pool, waited, limited, tenant_id,
-- include claim/keep
    , NULL AS more, NULL AS locked, NULL AS uncounted, NULL AS idle, NULL AS waits, NULL AS rings, NULL AS spent
FROM (SELECT * FROM claimed ORDER BY pool, pool_rank, place) claimed
UNION ALL  -- the last row is the verdict. locked: the lanes whose first jobs others have locked. idle: there is room left.
-- waits: a visited lane has more jobs that could start; or there was no room to visit one. rings: the light pools whose feeders could
-- start a job: those that this pass did not serve; and its own, if it took all that it may, and other workers have free seats (for
-- each of its queues). spent: the fold has found that a budget is used up, or no longer is.
SELECT
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    coalesce(bool_or(taken_of_pool < pool_free AND CASE WHEN visited THEN again OR NOT whole ELSE ready END), false),
    ARRAY(
        SELECT s.queue_id || ':' || s.tenant_id FROM served s
        WHERE s.n > (SELECT count(*) FROM locked l WHERE l.queue_id = s.queue_id AND l.tenant_id = s.tenant_id)
    ),
    coalesce(bool_or(uncounted), false),
    coalesce(bool_or(taken_of_pool < pool_free), false),
    coalesce(bool_or(CASE WHEN visited THEN again ELSE ready END), true),
    ARRAY(SELECT pool FROM asked WHERE NOT served AND ready) || coalesce(array_agg(pool) FILTER (
        WHERE others > 0 AND taken_of_pool >= pool_free AND CASE WHEN visited THEN again ELSE ready END
    ), '{}'),
    current_setting('jobs.spent', true) = 'true'
FROM next_turn
