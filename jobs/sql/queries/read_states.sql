-- Reads:  the states of jobs, each for the tenant that asks for it. A job in the history has none: it cannot change.
-- Who:    a web process, again and again, for all clients that wait there for a job. Locks: none. Index: primary key or jobs_of_tenant.
-- One index look-up for each job asked for, whatever the planner believes: no join of another kind has a LIMIT inside.
SELECT asked.tenant_id, asked.id, found.*
FROM unnest(%(tenants)s::bigint[], %(ids)s::bigint[]) AS asked (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT j.status, j.attempt, j.cancel_requested_at IS NOT NULL AS stopping, j.progress, j.progress_note
    FROM jobs j
    WHERE j.id = asked.id
      AND j.tenant_id = asked.tenant_id  -- guard I8
    LIMIT 1
) found
