-- Reads:  the places of a tenant's waiting jobs in their lanes, from 1, as explain counts them. Changes nothing, locks nothing.
-- Who:    the page of its members' jobs. Index: primary key; jobs_claim, at most `most` jobs before each one.
WITH
-- include shared/books
job AS MATERIALIZED (
    SELECT j.id, j.tenant_id, j.queue_id, j.user_key, j.priority
    FROM jobs j
    WHERE j.id = ANY(%(ids)s) AND j.ready_at IS NOT NULL
      AND j.tenant_id = %(tenant_id)s  -- guard I8
),
-- include shared/own_use
-- include explain_line/before
SELECT id, place FROM before
