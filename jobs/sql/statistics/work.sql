-- Reads:  what is under way in each lane: the slots in use, the jobs in line and how many of them the limits of their tenant
--         let pass, the gates of the others; with the tenant's slots and weight.
-- Who:    the recorder, for its sample. Locks: none. Index: jobs_in_use; primary keys of lanes and arrivals.
WITH
-- include shared/clock
-- include shared/live_pools
-- include shared/in_use
-- include shared/queue_states
-- include shared/in_line
line AS (SELECT *, NULL::timestamptz AS since FROM in_line),
-- include shared/lane_cuts
held AS MATERIALIZED (SELECT tenant_id, queue_id, count(*)::int AS held FROM in_use GROUP BY tenant_id, queue_id)
SELECT
    tenant_id, queue_id, coalesce(held.held, 0) AS held, coalesce(l.waiting, 0) AS waiting,
    coalesce(l.gate, 'next') AS gate, coalesce(l.beyond_slots, 0) AS beyond_slots, coalesce(l.beyond_rate, 0) AS beyond_rate,
    coalesce(l.passing, 0) AS passing, coalesce(t.num_slots, 0) AS slots, coalesce(t.weight, 1) AS weight,
    coalesce(t.paused, false) AS paused
FROM held
FULL JOIN lane_cut l USING (tenant_id, queue_id)
LEFT JOIN tenant_queues t USING (tenant_id)
