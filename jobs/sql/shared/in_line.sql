-- The lanes with jobs in line: as the last dispatch left them, and what has arrived since. `waiting` is the number that the
-- lane keeps, so that no waiting job is read; it includes jobs that are due later. `position`: in the circle, null if new.
-- Index: primary keys; of `arrivals` only the rows that no dispatch has taken, as the fold reads them.
told AS (
    SELECT tenant_id, queue_id, waiting, position FROM lanes
    WHERE state <> 'empty'  -- guard
      AND (%(tenants)s::bigint[] IS NULL OR tenant_id = ANY(%(tenants)s::bigint[]))
    UNION ALL
    SELECT tenant_id, queue_id, jobs, NULL FROM arrivals
    WHERE head IS NOT NULL  -- guard
      AND xid >= coalesce((SELECT since FROM door ORDER BY version DESC LIMIT 1), 0)
      AND (%(tenants)s::bigint[] IS NULL OR tenant_id = ANY(%(tenants)s::bigint[]))
),
in_line AS MATERIALIZED (
    SELECT tenant_id, queue_id, sum(waiting)::int AS waiting, min(position) AS position
    FROM told GROUP BY tenant_id, queue_id HAVING sum(waiting) > 0
),
