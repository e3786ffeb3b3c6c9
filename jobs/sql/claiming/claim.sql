-- Arrow:  claim, created -> queued: takes a slot of the tenant, attempt + 1.
-- Who:    a dispatch, inside the door; elsewhere it claims nothing. Its snapshot is younger than the door's lock, so that
--         the slots it counts are all there are (I1).
-- Locks:  the claimed rows. One that somebody else has locked is not waited for: others of its lane are taken instead, and
--         where there are none, the lane is passed over by the passes that follow. What the door keeps (lanes, turns,
--         buckets) nobody else writes, so nobody is waited for there either.
-- Index:  jobs_claim, from the head of each lane that is visited; jobs_in_use for what is held; lanes_circle.
-- Cost:   what is in use and the places to fill; not the jobs that wait or have ended, nor the lanes, the users of a lane or
--         the slots of a tenant (I9). No plan rests on an estimate: each read of a table that grows is bounded by a LIMIT in
--         a LATERAL and gets its index from an ORDER BY that only one index has; rows are written by their ctid.
-- Each limit cuts what the one before it left, so a pass claims at least one job if any may be claimed, but perhaps not
-- all: `more` then says that another pass may find a place for somebody.
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
SELECT id, attempt, pool, waited, limited, NULL::boolean AS more, NULL::bigint[] AS locked
FROM (SELECT * FROM claimed ORDER BY pool, pool_rank) claimed
UNION ALL  -- and last of all, how it went
SELECT NULL, NULL, NULL, NULL, NULL, verdict.more, verdict.locked FROM verdict
