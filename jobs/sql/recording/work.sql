-- Reads:  what is under way in each lane: the slots in use, the jobs in line and how many of them the limits of their tenant
--         let pass, the gates of the others; with the tenant's slots and weight.
-- Who:    the recorder, for its sample. Locks: none. Index: all of the books; primary keys of lanes and arrivals.
WITH
-- include shared/present
-- include shared/uses
-- include shared/in_line
line AS (SELECT *, NULL::timestamptz AS since FROM in_line),
-- include shared/lane_cuts
used AS MATERIALIZED (SELECT tenant_id, queue_id, n AS in_use FROM lane_use)
SELECT
    tenant_id, queue_id, coalesce(used.in_use, 0) AS in_use, coalesce(l.waiting, 0) AS waiting,
    l.gate, coalesce(l.no_tokens, false) AS no_tokens, coalesce(l.passing, 0) AS passing, coalesce(t.num_slots, 0) AS slots, coalesce(t.weight, 1) AS weight,
    coalesce(t.paused, false) AS paused
FROM used
FULL JOIN lane_cut l USING (tenant_id, queue_id)
LEFT JOIN tenant_queues t USING (tenant_id)
