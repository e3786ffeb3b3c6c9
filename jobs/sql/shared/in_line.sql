-- The lanes with jobs in line: as the last dispatch left them, and what has arrived since. `waiting` is the number that the
-- lane keeps, so that no waiting job is read; it includes jobs that are due later. `position`: in the circle, null if new.
-- Index: primary keys; of `arrivals` only the rows that no dispatch has taken, as the fold reads them.
arrived AS MATERIALIZED (
    SELECT tenant_id, queue_id, sum(jobs)::int AS jobs FROM arrivals
    WHERE head IS NOT NULL  -- guard
      AND xid >= coalesce((SELECT since FROM door ORDER BY version DESC LIMIT 1), 0)
      AND (%(tenants)s::bigint[] IS NULL OR tenant_id = ANY(%(tenants)s::bigint[]))
    GROUP BY tenant_id, queue_id
),
in_line AS MATERIALIZED (
    SELECT tenant_id, queue_id, coalesce(l.waiting, 0) + coalesce(a.jobs, 0) AS waiting, l.position
    FROM (
        SELECT tenant_id, queue_id, waiting, position FROM lanes
        WHERE state <> 'empty'  -- guard
          AND (%(tenants)s::bigint[] IS NULL OR tenant_id = ANY(%(tenants)s::bigint[]))
    ) l
    FULL JOIN arrived a USING (tenant_id, queue_id)
    WHERE coalesce(l.waiting, 0) + coalesce(a.jobs, 0) > 0
),
