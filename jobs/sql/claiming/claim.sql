-- Arrow:  claim, created -> queued: takes a slot of the tenant, attempt + 1.
-- Who:    a dispatch, inside the door; elsewhere it claims nothing. Its snapshot is younger than the door's lock, so it
--         counts all slots in use (I1).
-- Locks:  the claimed rows. It skips rows that others have locked and takes later jobs of the same lane. If there are too
--         few, the next passes skip the lane. Only dispatches write lanes, turns and buckets, so it never waits for them.
-- Index:  jobs_claim, from the head of each visited lane; jobs_in_use for the slots in use; lanes_circle.
-- Cost:   depends on the slots in use and the room to fill; not on waiting or ended jobs, on lanes, on the users of a lane
--         or on the slots of a tenant (I9). No plan depends on an estimate: each read of a growing table has a LIMIT in a
--         LATERAL, and an ORDER BY that only one index has; rows are written by their ctid.
-- Each limit cuts the rows that the previous one left. So a pass claims at least one job if any may be claimed, but perhaps
-- not all: `more` then says that another pass may find room for another job.
WITH RECURSIVE
-- include shared/clock
-- include shared/live_pools
-- include shared/in_use
-- include shared/queue_states
-- include claim/capacity
-- include claim/lanes
-- include claim/fairness
-- include claim/limits
-- include claim/take
-- include claim/move_on
SELECT id, attempt, pool, waited, limited, tenant_id,
-- include claim/keep
    , NULL::boolean AS more, NULL::bigint[] AS locked
FROM (SELECT * FROM claimed ORDER BY pool, pool_rank) claimed
UNION ALL  -- the last row is the verdict
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, verdict.more, verdict.locked FROM verdict
